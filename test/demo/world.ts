import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openApiClient, pathOf, type ApiClient, type Manifest } from '../support/api-client.ts'
import { root, startControlPlane, type ControlPlaneProcess } from '../support/control-plane-process.ts'
import { createKubectl, findKubectls, type Kubectl } from '../support/kubectl.ts'
import { endServers } from '../support/postgres-servers.ts'
import { startProgram, type Program } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

/**
 * A control plane and a Konnect, each in a process of its own, and a person with kubectl; without one, with an HTTP
 * client.
 */
export interface World extends AsyncDisposable {
  readonly dataDirectory: string
  readonly konnectUrl: string
  /** `kubectl apply -f` */
  apply(manifests: readonly Manifest[]): Promise<void>
  /** Undefined if there is none; without a name the list of its kind. */
  get(at: Manifest): Promise<Shown>
  patch(at: Manifest, body: object): Promise<void>
  delete(at: Manifest): Promise<void>
  /** Kills the control plane as `kill -9` does, and starts it again; how long it was away. */
  restart(): Promise<number>
  readonly toolName: string
  /** What the control plane has logged since it was last started, a line each. */
  log(): readonly LogLine[]
}

export interface LogLine {
  readonly message: string
  readonly [field: string]: unknown
}

// oxlint-disable-next-line typescript/no-explicit-any -- what is shown is looked into, never relied on
type Shown = any

export async function openWorld(): Promise<World> {
  const directory = temporaryDirectory('demo')
  // The account that the database servers run as must be able to get there.
  chmodSync(directory.path, 0o755)
  const dataDirectory = join(directory.path, 'data')
  const [newest] = await findKubectls()
  const konnect = await startKonnect()
  let plane: ControlPlaneProcess = await startControlPlane({ dataDirectory })
  let client: ApiClient = openApiClient(plane.kubeconfig)
  const kubectl: Kubectl | undefined =
    newest && createKubectl(newest, { kubeconfig: plane.kubeconfig, cacheDirectory: join(directory.path, 'cache') })

  const send = async (line: string, body?: object, contentType = 'application/json') => {
    const reply = await client.send(line, { ...(body === undefined ? {} : { body }), contentType })
    if (reply.status >= 400 && reply.status !== 404)
      throw new Error(`${line}: ${reply.status} ${JSON.stringify(reply.body)}`)
    return reply
  }

  return {
    dataDirectory,
    konnectUrl: konnect.url,
    toolName: newest === undefined ? 'the HTTP API (no kubectl found)' : `kubectl 1.${newest.minor}`,
    apply: async (manifests) => {
      if (kubectl !== undefined) {
        const file = join(directory.path, 'applied.json')
        writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: manifests }))
        await kubectl.ok(`apply -f ${file}`)
        return
      }
      for (const manifest of manifests)
        await send(`PATCH ${pathOf(manifest)}?fieldManager=demo`, manifest, 'application/apply-patch+yaml')
    },
    get: async (at) => {
      const { status, body } = await send(`GET ${pathOf(at)}`)
      return status === 404 ? undefined : body
    },
    patch: async (at, body) =>
      void (await send(`PATCH ${pathOf(at)}?fieldManager=somebody`, body, 'application/merge-patch+json')),
    delete: async (at) => void (await send(`DELETE ${pathOf(at)}`)),
    log: () =>
      plane.process.stderr
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as LogLine),
    restart: async () => {
      const startMs = performance.now()
      client[Symbol.dispose]()
      await plane.stop('SIGKILL')
      plane = await startControlPlane({ dataDirectory, port: Number(new URL(plane.url).port) })
      client = openApiClient(plane.kubeconfig)
      return performance.now() - startMs
    },
    [Symbol.asyncDispose]: async () => {
      client[Symbol.dispose]()
      await plane[Symbol.asyncDispose]()
      await konnect.program[Symbol.asyncDispose]()
      await endServers(dataDirectory)
      directory[Symbol.dispose]()
    },
  }
}

async function startKonnect(): Promise<{ readonly url: string; readonly program: Program }> {
  const program = await startProgram(process.execPath, [join(root, 'test/reconcilers/konnect/fake-konnect.ts')])
  const [, url = ''] = await program.says(/ready at (\S+)\n/)
  return { url, program }
}
