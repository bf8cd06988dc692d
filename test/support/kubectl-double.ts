import { join } from 'node:path'
import type { AskKubectl } from '../../functions/command/ask-kubectl.ts'
import { OperatingError } from '../../shared/index.ts'
import { openApiClient, type ApiClient } from './api-client.ts'

interface Resource {
  readonly name: string
  readonly singularName: string
  readonly kind: string
  readonly shortNames?: readonly string[]
}

/** What the command asks of kubectl, sent to the control plane of a directory by this process. */
export function createKubectlDouble(cwd: string): AskKubectl {
  return async (args, input = '') => {
    using client = openApiClient(join(cwd, '.setpoint/kubeconfig'))
    const [verb, what = '', word = ''] = args
    if (what === '--raw' && verb === 'create') return asText(await send(client, `POST ${word}`, JSON.parse(input)))
    if (what === '--raw') return asText(await send(client, `GET ${word}`))
    if (verb === 'patch') {
      const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${word}/status`
      return asText(await send(client, `PATCH ${path}`, JSON.parse(args.at(-1) ?? '')))
    }
    if (verb === 'get' && args.includes('--ignore-not-found')) {
      const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${word}`
      const { status, body } = await client.send(`GET ${path}`)
      return status === 404 ? '' : JSON.stringify(body)
    }
    const versioned = /^([a-z]+)\.(v\d+)\.(.+)$/.exec(what)
    if (verb === 'get' && versioned !== null) {
      const [, plural, version, group] = versioned
      return await printTable(client, `/apis/${group}/${version}/${plural}`, args.includes('--all-namespaces'))
    }
    const [type = '', name] = what.split('/')
    const { root, plural } = await findResource(client, type)
    if (verb === 'get' && args.includes('--all-namespaces')) return asText(await send(client, `GET ${root}/${plural}`))
    const at = args.indexOf('--namespace') + 1
    const collection = `${root}/namespaces/${at === 0 ? 'default' : args[at]}/${plural}`
    if (verb === 'get' && name !== undefined) return asText(await send(client, `GET ${collection}/${name}`))
    if (verb === 'get') return asText({ ...(await send(client, `GET ${collection}`)), kind: 'List' })
    if (verb !== 'annotate') throw new Error(`no double of kubectl ${args.join(' ')}`)
    const [key = '', value = ''] = word.split('=')
    const names = name === undefined ? await namesIn(client, collection) : [name]
    for (const one of names)
      await send(client, `PATCH ${collection}/${one}`, { metadata: { annotations: { [key]: value } } })
    return names.map((one) => `${plural}/${one} annotated\n`).join('')
  }
}

function asText(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body)
}

async function send(client: ApiClient, line: string, body?: unknown) {
  const contentType = line.startsWith('PATCH') ? 'application/merge-patch+json' : 'application/json'
  const reply = await client.send(line, { ...(body !== undefined && { body }), contentType })
  if (reply.status < 400) return reply.body
  const told = reply.body.reason === undefined ? reply.body.message : `(${reply.body.reason}): ${reply.body.message}`
  throw new OperatingError('UNAVAILABLE', `kubectl: Error from server ${told}`)
}

interface GroupVersion {
  readonly groupVersion: string
}

/** By plural, singular or short name, or by the plural with the group after it. */
async function findResource(
  client: ApiClient,
  type: string,
): Promise<{ readonly root: string; readonly plural: string }> {
  const [first = '', ...group] = type.split('.')
  const { groups } = await send(client, 'GET /apis')
  // The preferred version of a group comes first.
  for (const { groupVersion } of groups.flatMap((one: { versions: readonly GroupVersion[] }) => one.versions)) {
    if (group.length > 0 && !groupVersion.startsWith(`${group.join('.')}/`)) continue
    const { resources } = await send(client, `GET /apis/${groupVersion}`)
    const found = resources.find(({ name, singularName, shortNames = [] }: Resource) =>
      [name, singularName, ...shortNames].includes(first),
    )
    if (found !== undefined) return { root: `/apis/${groupVersion}`, plural: found.name }
  }
  throw new OperatingError('UNAVAILABLE', `kubectl: error: the server doesn't have a resource type "${type}"`)
}

interface Table {
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[]
  readonly rows: readonly {
    readonly cells: readonly unknown[]
    readonly object: { readonly metadata: { readonly namespace?: string } }
  }[]
}

/** As kubectl prints a table: columns of priority 0, each as wide as its widest cell, three spaces between them. */
async function printTable(client: ApiClient, path: string, isOfAll: boolean): Promise<string> {
  const headers = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
  const { columnDefinitions, rows }: Table = (await client.send(`GET ${path}`, { headers })).body
  if (rows.length === 0) return ''
  const lineOf = (namespace: string | undefined, cells: readonly unknown[]): readonly string[] => [
    ...(isOfAll ? [namespace ?? ''] : []),
    ...columnDefinitions.flatMap(({ priority }, i) => (priority > 0 ? [] : [String(cells[i] ?? '')])),
  ]
  const head = lineOf(
    'NAMESPACE',
    columnDefinitions.map(({ name }) => name.toUpperCase()),
  )
  const lines = [head, ...rows.map(({ cells, object }) => lineOf(object.metadata.namespace, cells))]
  const widths = head.map((_, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)))
  return lines
    .map(
      (line) =>
        `${line
          .map((cell, i) => cell.padEnd(widths[i] ?? 0))
          .join('   ')
          .trimEnd()}\n`,
    )
    .join('')
}

async function namesIn(client: ApiClient, collection: string): Promise<readonly string[]> {
  const { items } = await send(client, `GET ${collection}`)
  return items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)
}
