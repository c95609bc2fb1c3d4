"""The wire: generated messages, their translation to records, and errors as statuses."""

SERVICE = "akka.optimize.trainer.v1.TrainerService"
