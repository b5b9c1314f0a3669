"""The whole referee on recorded days: embedded servers, the simulated venue, sample agents, the pages."""
