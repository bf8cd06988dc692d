"""An operator of kopf: a finalizer, a status, an event; who of two peers has the higher priority does the work."""

import os

import kopf


@kopf.on.startup()
def configure(settings, **_):
    settings.peering.name = "painters"
    settings.peering.mandatory = True
    settings.peering.priority = int(os.environ["PRIORITY"])
    settings.peering.lifetime = 6


@kopf.on.create("kopfpaintings.clients.setpoint.dev")
@kopf.on.update("kopfpaintings.clients.setpoint.dev")
def paint(spec, patch, body, **_):
    patch.status["color"] = spec["color"]
    patch.status["by"] = os.environ["PRIORITY"]
    kopf.info(body, reason="Painted", message=f"is {spec['color']} now")


@kopf.on.delete("kopfpaintings.clients.setpoint.dev")
def drop(**_):
    pass
