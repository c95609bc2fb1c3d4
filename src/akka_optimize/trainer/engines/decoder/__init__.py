"""The built-in engine: a small byte-level decoder that ships with the package, adapted by LoRA.

Encoding needs numpy alone; torch is loaded when a run starts.

* `tokens`: chat row -> token ids and which of them are trained
* `model`, `lora`: the network, and the adapters that are all a run trains
* `schedule`: the learning rate of each update
* `batches`: rows -> padded tensors, and how an update falls into passes
* `loop`: one record per update
* `replica`, `session`: one process's part of a run in training, and the first one's, which drives the others
* `devices`, `group`, `peers`, `peer`: what they compute on, how they add up, and how the others are started and end
* `state`: what a run leaves behind
* `restore`: a saved adapter under another rank or alpha
* `report`: what a session says of itself
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from akka_optimize.trainer.engines.decoder import tokens

if TYPE_CHECKING:
    from akka_optimize.records import Document
    from akka_optimize.trainer.engines import Job, Session, Tokens


class DecoderEngine:
    """The engine of every byte-level decoder."""

    def encode(self, row: Document) -> Tokens:
        """Tokenise one chat row. Raises Invalid for a row that is no chat."""
        return tokens.encode(row)

    def start(self, job: Job) -> Session:
        """Load the model and put adapters on it: fresh ones, those of the job's source, or those it goes on with.

        Raises Internal for weights that cannot be used, Refused for a training state that cannot, ProcessLost.
        """
        from akka_optimize.trainer.engines.decoder.session import DecoderSession

        return DecoderSession(job)


ENGINE = DecoderEngine()
