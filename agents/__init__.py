"""One Faust agent a file."""
