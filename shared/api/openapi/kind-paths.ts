import type { JsonObject } from '../../model/json.ts'
import type { ServedKind } from '../../model/served-kind.ts'
import { isComputed } from '../computed/computed-kinds.ts'
import { resourceVerbs } from '../discovery/resource-verbs.ts'
import { isReview } from '../reviews/review-kinds.ts'
import { scaleKind, subresourcesOf } from '../subresources.ts'
import { scaleRef, schemaRef } from './kind-schemas.ts'
import { metaRef } from './meta-schemas.ts'

/**
 * The operations of one kind. kubectl reads from them which kind a path serves, and that `patch` knows
 * `fieldValidation`.
 */
export function kindPaths(kind: ServedKind): JsonObject {
  const root = kind.group === '' ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`
  const collection = kind.namespaced ? `${root}/namespaces/{namespace}/${kind.plural}` : `${root}/${kind.plural}`
  const path = kind.namespaced ? [namespaceParameter] : []
  if (isReview(kind)) return { [collection]: { post: create(kind) } }
  if (isComputed(kind)) return computedPaths(kind, { root, collection, path })
  return {
    [collection]: {
      parameters: path,
      get: list(kind),
      post: create(kind),
      ...(resourceVerbs(kind).includes('deletecollection') && { delete: deleteCollection(kind) }),
    },
    ...(kind.namespaced ? { [`${root}/${kind.plural}`]: { get: list(kind, 'ForAllNamespaces') } } : {}),
    [`${collection}/{name}`]: {
      parameters: [nameParameter, ...path],
      ...itemOperations(kind, ''),
      delete: deleteOne(kind),
    },
    ...subresourcePaths(kind, `${collection}/{name}`, [nameParameter, ...path]),
  }
}

interface KindPath {
  readonly root: string
  readonly collection: string
  readonly path: readonly JsonObject[]
}

/** Of what can be read only, and not watched. */
function computedPaths(kind: ServedKind, { root, collection, path }: KindPath): JsonObject {
  const { get } = itemOperations(kind, '')
  const parameters = [...selectorParameters, ...pageParameters]
  const listed = (part: Part): JsonObject => list(kind, part, { does: 'list objects of kind', parameters })
  return {
    [collection]: { parameters: [...path], get: listed('') },
    ...(kind.namespaced ? { [`${root}/${kind.plural}`]: { get: listed('ForAllNamespaces') } } : {}),
    [`${collection}/{name}`]: { parameters: [nameParameter, ...path], get: get ?? {} },
  }
}

function subresourcePaths(kind: ServedKind, item: string, parameters: readonly JsonObject[]): JsonObject {
  const shared = { parameters: [...parameters] }
  const paths: JsonObject = {}
  for (const { name } of subresourcesOf(kind)) {
    if (name === 'status') paths[`${item}/status`] = { ...shared, ...itemOperations(kind, 'Status') }
    if (name === 'scale') paths[`${item}/scale`] = { ...shared, ...itemOperations(kind, 'Scale') }
    if (name === 'finalize') paths[`${item}/finalize`] = { ...shared, put: itemOperations(kind, 'Finalize')['put'] }
  }
  return paths
}

type Part = '' | 'Status' | 'Scale' | 'Finalize' | 'ForAllNamespaces'

function itemOperations(kind: ServedKind, part: Part): JsonObject {
  const isScale = part === 'Scale'
  const schema = isScale ? scaleRef : schemaRef(kind, 'kind')
  const about = isScale ? { is: scaleKind } : {}
  // A PUT creates objects of some kinds, and an apply of all.
  const writes = { ...about, creates: part === '' }
  return {
    get: operation(kind, 'get', { id: `read${part}`, does: 'read the specified', gives: schema, ...about }),
    put: operation(kind, 'put', {
      id: `replace${part}`,
      does: 'replace the specified',
      parameters: writeParameters,
      takes: body(schema),
      gives: schema,
      ...writes,
    }),
    patch: operation(kind, 'patch', {
      id: `patch${part}`,
      does: 'partially update the specified',
      parameters: [
        ...writeParameters,
        query('force', 'boolean', 'Take over fields that others manage. For apply patches only.'),
      ],
      takes: body(metaRef('Patch'), patchTypes),
      gives: schema,
      ...writes,
    }),
  }
}

function list(kind: ServedKind, part: Part = '', told: Partial<Operation> = {}): JsonObject {
  return operation(kind, 'list', {
    id: `list${part}`,
    does: 'list or watch objects of kind',
    parameters: listParameters,
    ...told,
    gives: schemaRef(kind, 'listKind'),
  })
}

function create(kind: ServedKind): JsonObject {
  const object = schemaRef(kind, 'kind')
  return operation(kind, 'post', {
    id: 'create',
    does: 'create a',
    parameters: writeParameters,
    takes: body(object),
    gives: object,
    creates: true,
  })
}

function deleteOne(kind: ServedKind): JsonObject {
  return operation(kind, 'delete', {
    id: 'delete',
    does: 'delete a',
    parameters: deleteParameters,
    takes: body(metaRef('DeleteOptions')),
    gives: metaRef('Status'),
  })
}

function deleteCollection(kind: ServedKind): JsonObject {
  const parameters = [...deleteParameters, ...selectorParameters]
  return operation(kind, 'deletecollection', {
    id: 'deleteCollection',
    does: 'delete a collection of',
    parameters,
    takes: body(metaRef('DeleteOptions')),
    gives: schemaRef(kind, 'listKind'),
  })
}

interface Operation {
  readonly id: string
  readonly does: string
  readonly parameters?: readonly JsonObject[]
  readonly takes?: JsonObject
  readonly gives: JsonObject
  /** The answer may be that it is created. */
  readonly creates?: boolean
  /** The kind of what it is about, if it is another. */
  readonly is?: Pick<ServedKind, 'group' | 'version' | 'kind'>
}

function operation(
  kind: ServedKind,
  action: string,
  { id, does, parameters = [], takes, gives, creates = false, is = kind }: Operation,
): JsonObject {
  const { group, version, namespaced } = kind
  const words = [
    ...(group === '' ? ['core'] : group.split(/[.-]/)),
    version,
    ...(namespaced ? ['namespaced'] : []),
    kind.kind,
  ]
  const content = { 'application/json': { schema: gives } }
  return {
    operationId: `${id}${words.map(capitalize).join('')}`,
    description: `${does} ${kind.kind}`,
    tags: [`${group === '' ? 'core' : group}_${version}`],
    parameters: [...parameters],
    ...(takes === undefined ? {} : { requestBody: takes }),
    responses: {
      '200': { description: 'OK', content },
      ...(creates && { '201': { description: 'Created', content } }),
      '401': { description: 'Unauthorized' },
    },
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': { group: is.group, version: is.version, kind: is.kind },
  }
}

function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

const patchTypes = ['application/apply-patch+yaml', 'application/json-patch+json', 'application/merge-patch+json']

function body(schema: JsonObject, types: readonly string[] = ['application/json']): JsonObject {
  return { content: Object.fromEntries(types.map((type) => [type, { schema }])), required: true }
}

function query(name: string, type: 'string' | 'integer' | 'boolean', description: string): JsonObject {
  return { name, in: 'query', description, schema: { type, uniqueItems: true } }
}

const nameParameter: JsonObject = {
  name: 'name',
  in: 'path',
  required: true,
  description: 'name of the object',
  schema: { type: 'string' },
}
const namespaceParameter: JsonObject = {
  name: 'namespace',
  in: 'path',
  required: true,
  description: 'namespace of the object',
  schema: { type: 'string' },
}

const dryRun = query('dryRun', 'string', 'All: do everything but the write.')
const writeParameters = [
  dryRun,
  query('fieldManager', 'string', 'Who writes; the program in User-Agent if it is not given.'),
  query('fieldValidation', 'string', 'What to do with fields that the schema does not know: Ignore, Warn or Strict.'),
]
const selectorParameters = [
  query('labelSelector', 'string', 'Only objects with these labels.'),
  query('fieldSelector', 'string', 'Only objects with these fields.'),
]
const pageParameters = [
  query('limit', 'integer', 'At most so many objects on a page.'),
  query('continue', 'string', 'The token of the page before.'),
]
const listParameters = [
  ...selectorParameters,
  ...pageParameters,
  query('watch', 'boolean', 'Tell changes instead, until the client leaves.'),
  query('resourceVersion', 'string', 'Where a watch begins.'),
  query('resourceVersionMatch', 'string', 'NotOlderThan, beside sendInitialEvents.'),
  query('sendInitialEvents', 'boolean', 'A watch tells the objects there are first.'),
  query('allowWatchBookmarks', 'boolean', 'A watch may send bookmarks.'),
  query('timeoutSeconds', 'integer', 'How long a watch lasts.'),
]
const deleteParameters = [
  dryRun,
  query('gracePeriodSeconds', 'integer', 'Accepted and without effect.'),
  query('propagationPolicy', 'string', 'What becomes of dependents: Background, Foreground or Orphan.'),
]
