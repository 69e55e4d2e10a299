def run_tests(*a, **k): return ()
