"""`python -m akka_optimize.trainer.worker HOME`."""

import sys

from akka_optimize.trainer.worker import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
