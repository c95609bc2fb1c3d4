#!/usr/bin/env bash
# Did this run learn something else, or did it only draw other rows?
#
# Trains a small model on this machine and compares: twice under one plan, then at ten times the learning rate. Then a
# fan of six children from one snapshot, previewed, submitted, and submitted again without a second child. No server, no
# account: everything it makes lies below .demo, which is emptied first. With an address (demo.sh http://localhost:9001)
# it does the same in a fresh trainer there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export TRAINER_URL=${1:-local:.demo}
[ "$TRAINER_URL" != local:.demo ] || rm -rf .demo

say() { printf '\n# %s\n' "$*"; }
show() { printf '$ %s\n' "$*"; "$@"; }
akka() { akka-optimize training runs "$@"; }
trained() {
  printf '$ akka-optimize training runs start -f run.yaml %s   (about half a minute)\n' "$*"
  akka start -f examples/support-triage/run.yaml --force --wait -q --json runId,name,phase,loss,validationLoss "$@"
}

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

say 'A fan of six from the first run'"'"'s snapshot: the preview'
snapshot=$(akka snapshots first --jq '.snapshots[0].snapshotId')
sweep=(akka-optimize training runs sweep first --snapshot "${snapshot:0:12}" --steps 10
  --grid examples/support-triage/learning-rates.yaml --submission-id demo-fan)
show "${sweep[@]}" --dry-run

say 'Submitted, and once more, as after a lost reply: no child twice'
show "${sweep[@]}" --force --jq '.points[].childRunId'
show "${sweep[@]}" --force --jq '"existing: \(.fan.existing), new: \(.fan.new)"'

say 'Waited for'
children=$(akka branches first --submission demo-fan --jq '.branches[].childRunId')
for child in $children; do akka wait "$child" -q --exit-status --jq '"\(.runId) \(.phase)"'; done
show akka-optimize training runs branches first --submission demo-fan

say 'Two children differ by exactly what their points set'
code=0
# shellcheck disable=SC2086
set -- $children
show akka-optimize training runs compare "$1" "$4" || code=$?
[ "$code" -eq 1 ] || { echo "expected exit 1, got $code" >&2; exit 1; }
show akka-optimize training runs compare "$1" "$4" --across-plans --window 5

say 'These runs are yours to look at'
echo "TRAINER_URL=$TRAINER_URL akka-optimize training runs list"
