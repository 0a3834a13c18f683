"""From pictures to what lies where: cameras, mats, stickers."""
