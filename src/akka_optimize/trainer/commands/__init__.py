"""The commands of `akka-trainer`; one module each, by its name. `flags` holds what several of them share."""
