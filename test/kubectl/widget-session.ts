import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { startControlPlane, type ControlPlaneProcess } from '../support/control-plane-process.ts'
import { createKubectl, type Kubectl, type KubectlBinary } from '../support/kubectl.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { widgetDefinition } from './widgets.ts'

/** A control plane that knows Widgets, and a kubectl that talks to it. */
export interface WidgetSession {
  readonly kubectl: Kubectl
  readonly kubeconfig: string
  /** For files that a test hands to kubectl. */
  readonly directory: string
  /** Another version for the same control plane. */
  with(binary: KubectlBinary): Kubectl
}

/**
 * Of the `describe` that calls it: starts before its first test and ends after its last. Without a kubectl no test may
 * run.
 */
export function widgetSession(binary: KubectlBinary = { file: 'no kubectl', minor: 0 }): WidgetSession {
  const directory = temporaryDirectory('kubectl')
  const dataDirectory = join(directory.path, 'data')
  const kubeconfig = join(dataDirectory, 'kubeconfig')
  const withBinary = (other: KubectlBinary): Kubectl =>
    createKubectl(other, { kubeconfig, cacheDirectory: join(directory.path, `cache-${other.minor}`) })
  const kubectl = withBinary(binary)

  let plane: ControlPlaneProcess | undefined
  beforeAll(async () => {
    plane = await startControlPlane({ dataDirectory })
    await kubectl.apply(widgetDefinition)
    await kubectl.ok('wait --for=condition=Established crd/widgets.test.setpoint.dev')
  }, 60_000)
  afterAll(async () => {
    await plane?.[Symbol.asyncDispose]()
    directory[Symbol.dispose]()
  })
  return { kubectl, kubeconfig, directory: directory.path, with: withBinary }
}
