"""How agents consume and emit so that nothing is lost and a repeat changes nothing."""
