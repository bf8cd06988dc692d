import { join } from 'node:path'
import { startControlPlane, type ControlPlaneProcess } from './control-plane-process.ts'
import { createKubectl, type Kubectl, type KubectlBinary } from './kubectl.ts'
import { temporaryDirectory } from './temporary-directory.ts'

/** A control plane of its own and a kubectl that talks to it. */
export interface KubectlSession extends AsyncDisposable {
  readonly plane: ControlPlaneProcess
  readonly kubectl: Kubectl
  /** For files that a test hands to kubectl. */
  readonly directory: string
  /** Another version for the same control plane. */
  with(binary: KubectlBinary): Kubectl
}

export async function openKubectlSession(binary: KubectlBinary): Promise<KubectlSession> {
  const plane = await startControlPlane()
  const directory = temporaryDirectory('kubectl')
  const withBinary = (other: KubectlBinary): Kubectl =>
    createKubectl(other, {
      kubeconfig: plane.kubeconfig,
      cacheDirectory: join(directory.path, `cache-${other.minor}`),
    })
  return {
    plane,
    kubectl: withBinary(binary),
    directory: directory.path,
    with: withBinary,
    [Symbol.asyncDispose]: async () => {
      await plane[Symbol.asyncDispose]()
      directory[Symbol.dispose]()
    },
  }
}
