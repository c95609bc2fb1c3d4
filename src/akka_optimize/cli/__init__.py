"""The command tree; a command's path is its file's path."""
