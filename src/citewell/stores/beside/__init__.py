"""Vector engines beside a store: the store keeps everything, the engine only makes its dense leg quick."""
