"""A simulated table: hands of Mille Bornes before a virtual camera, which gives nothing but pixels."""
