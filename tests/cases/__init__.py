"""Field cases: what went wrong in other systems, as neutral steps, played through this product's doors."""
