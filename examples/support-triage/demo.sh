#!/usr/bin/env bash
# Did this run learn something else, or did it only draw other rows?
#
# Trains a small model on this machine three times and compares: twice under one plan, then at ten times the learning
# rate. No server, no account. Everything it makes lies below .demo, which is emptied first.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
rm -rf .demo
export TRAINER_URL=local:.demo

say() { printf '\n# %s\n' "$*"; }
show() { printf '$ %s\n' "$*"; "$@"; }
akka() { akka-optimize training runs "$@"; }
trained() { akka start -f examples/support-triage/run.yaml --force --wait -q --json runId,name,phase,loss,validationLoss "$@"; }

say 'Rows and a workload'
show akka-optimize datasets create -f examples/support-triage/train.jsonl --name triage-train
show akka-optimize training workloads create triage

say 'A run, and the same plan once more'
trained --set name=first
trained --set name=second

say 'Did they learn the same?'
show akka-optimize training runs compare first second

say 'Ten times the learning rate'
trained --set name=hotter --set hyperparams.optimizer.learningRate=1e-2

say 'Another plan is refused, with the field named'
code=0
show akka-optimize training runs compare hotter first || code=$?
[ "$code" -eq 1 ] || { echo "expected exit 1, got $code" >&2; exit 1; }

say 'Compared all the same: where do the two part?'
show akka-optimize training runs compare hotter first --across-plans
