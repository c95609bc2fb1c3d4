"""Actions on datasets."""
