"""Two operators of kopf: the one with the higher priority works, and when it is killed the other one. Ends with 0 or says why not."""

import os
import subprocess
import sys
import time

from kubernetes import client, config
from kubernetes.client.exceptions import ApiException

GROUP = "clients.setpoint.dev"


def definition(group, plural, kind, scope, status):
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": scope,
            "names": {"kind": kind, "plural": plural},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": anything},
                    **({"subresources": {"status": {}}} if status else {}),
                }
            ],
        },
    }


def start(priority):
    command = [sys.executable, "-m", "kopf", "run", "--namespace=default", os.path.join(os.path.dirname(__file__), "painter.py")]
    log = open(f"kopf-{priority}.log", "w")
    return subprocess.Popen(command, env={**os.environ, "PRIORITY": str(priority)}, stdout=log, stderr=log)


def eventually(what, check):
    end = time.monotonic() + 120
    while time.monotonic() < end:
        if check():
            return
        time.sleep(0.3)
    sys.exit(f"failed: {what} within two minutes")


def main():
    config.load_kube_config()
    definitions = client.ApiextensionsV1Api()
    objects = client.CustomObjectsApi()
    for one in [
        definition("kopf.dev", "kopfpeerings", "KopfPeering", "Namespaced", False),
        definition(GROUP, "kopfpaintings", "KopfPainting", "Namespaced", True),
    ]:
        definitions.create_custom_resource_definition(one)
    time.sleep(1)
    place = ("kopf.dev", "v1", "default", "kopfpeerings")
    objects.create_namespaced_custom_object(*place, {"apiVersion": "kopf.dev/v1", "kind": "KopfPeering", "metadata": {"name": "painters"}})
    paintings = (GROUP, "v1", "default", "kopfpaintings")

    def paint(name, by):
        body = {"apiVersion": f"{GROUP}/v1", "kind": "KopfPainting", "metadata": {"name": name}, "spec": {"color": "red"}}
        objects.create_namespaced_custom_object(*paintings, body)
        eventually(
            f"{name} is not painted by {by}",
            lambda: objects.get_namespaced_custom_object(*paintings, name).get("status", {}).get("by") == by,
        )

    def is_peer(count):
        status = objects.get_namespaced_custom_object(*place, "painters").get("status") or {}
        return len(status) == count

    def is_gone(name):
        try:
            objects.get_namespaced_custom_object(*paintings, name)
            return False
        except ApiException as error:
            return error.status == 404

    low = start(1)
    eventually("the first peer is not there", lambda: is_peer(1))
    high = start(2)
    try:
        eventually("the second peer is not there", lambda: is_peer(2))
        time.sleep(3)
        paint("a", "2")
        high.kill()
        high.wait()
        paint("b", "1")
        print("ok: the peer with the higher priority works, and the other one after it was killed")
        for name in ["a", "b"]:
            objects.delete_namespaced_custom_object(*paintings, name)
        eventually("the paintings are not gone", lambda: is_gone("a") and is_gone("b"))
        print("ok: finalizers of kopf are set and removed")
    finally:
        low.kill()
        high.kill()


try:
    main()
except ApiException as error:
    sys.exit(f"failed: {error.status} {error.reason}: {error.body}")
