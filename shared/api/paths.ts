import type { JsonObject } from '../model/json.ts'
import type { ServedKind } from '../model/served-kind.ts'
import type { HttpRequest, HttpResponse } from '../ports/http-handler.ts'
import type { ApiServices, Page } from './call.ts'
import { deriveFromKinds } from './derive-from-kinds.ts'
import { aggregateDiscovery, type DiscoveryVersion } from './discovery/aggregated.ts'
import { groupVersions, type GroupVersion } from './discovery/group-versions.ts'
import { coreVersions, groupDocument, groupList, resourceList } from './discovery/legacy.ts'
import { versionDocument } from './discovery/version.ts'
import { emptyKinds, withUnstoredKinds } from './empty-kinds.ts'
import { noSuchPath } from './failure.ts'
import { openApiDocuments, type OpenApiDocuments } from './openapi/documents.ts'
import { createRest, type HashedText } from './openapi/hashed-text.ts'
import { openApiV2Protobuf, openApiV2ProtobufType } from './openapi/static-v2.ts'
import { openApiV2Document } from './openapi/v2-document.ts'
import { issuerDocuments } from './issuer-documents.ts'
import { acceptedRanges } from './media-ranges.ts'
import type { PathAnswer } from './path-answer.ts'
import { json, jsonText, withHeader } from './reply.ts'
import { jsonTypes } from './representation.ts'
import { methodNotAllowed } from './request-info.ts'
import { reviewKinds } from './reviews/review-kinds.ts'

/** Answers a path that names no resource: versions, discovery, schema documents, pages. */
export type PathHandler = (request: HttpRequest, segments: readonly string[]) => Promise<HttpResponse>

interface PathServices extends Pick<
  ApiServices,
  'catalog' | 'version' | 'clock' | 'pages' | 'operations' | 'computed' | 'tokens'
> {
  /** Of the health of the process. */
  readonly checks: ReadonlyMap<string, PathAnswer>
}

export function createPathHandler({
  catalog,
  version,
  clock,
  pages,
  operations = new Map(),
  computed = [],
  tokens,
  checks,
}: PathServices): PathHandler {
  const own = computed.map(({ kind }) => kind)
  const described = (kinds: readonly ServedKind[]): readonly GroupVersion[] =>
    groupVersions([...withUnstoredKinds(kinds, own), ...reviewKinds])
  const served = deriveFromKinds(catalog, (kinds) =>
    groupVersions([...withUnstoredKinds(kinds, [...emptyKinds, ...own]), ...reviewKinds]),
  )
  const documented = { setpoint: version, rest: createRest(clock) }
  const schemas = deriveFromKinds<OpenApiDocuments>(catalog, (kinds, before) =>
    openApiDocuments(described(kinds), documented, before),
  )
  const oldSchemas = deriveFromKinds(catalog, (kinds) => openApiV2Document(described(kinds), documented))

  const alone = new Map<string, PathAnswer>([
    ['/version', async () => json(200, versionDocument(version))],
    ...checks,
    ...issuerDocuments(tokens),
    ...[...pages].map(([name, page]) => [`/${name}`, () => answerPage(page)] as const),
  ])
  const named = [...new Set([...paths, ...alone.keys(), ...[...operations.keys()].map((name) => `/${name}`)])]

  return async (request, segments) => {
    const [first, ...rest] = segments
    const operation = request.method === 'POST' && rest.length === 0 ? operations.get(first ?? '') : undefined
    if (operation !== undefined) return operation(request)
    if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed()
    if (first === undefined) return json(200, { paths: named })
    const answer = alone.get(`/${segments.join('/')}`)
    if (answer !== undefined) return answer(request)
    if (first === 'api' || first === 'apis') return discovery(request, first, { rest, versions: await served() })
    if (first !== 'openapi') throw noSuchPath()
    if (rest[0] === 'v2' && rest.length === 1) {
      if (asksForProtobuf(request)) return openApiV2InProtobuf(version)
      return unlessKnown(request, await oldSchemas(), 'no-cache')
    }
    if (rest[0] === 'v3') return openApiV3(request, rest.slice(1).join('/'), await schemas())
    throw noSuchPath()
  }
}

const paths = ['/api', '/apis', '/healthz', '/livez', '/openapi/v2', '/openapi/v3', '/readyz']

async function answerPage({ type, text }: Page): Promise<HttpResponse> {
  return { status: 200, headers: { 'content-type': type }, body: await text() }
}

interface Asked {
  readonly rest: readonly string[]
  readonly versions: readonly GroupVersion[]
}

/** Longer paths are those of resources. */
function discovery(request: HttpRequest, root: 'api' | 'apis', { rest, versions }: Asked): HttpResponse {
  const [first, second] = rest
  if (first === undefined) return groups(request, root, versions)
  const [group, version] = root === 'api' ? ['', first] : [first, second]
  return answerDocument(
    version === undefined ? groupDocument(versions, group) : resourceList(versions, { group, version }),
  )
}

function groups(request: HttpRequest, root: 'api' | 'apis', versions: readonly GroupVersion[]): HttpResponse {
  const aggregated = findAggregatedVersion(request)
  if (aggregated === undefined) return json(200, root === 'api' ? coreVersions(versions) : groupList(versions))
  const shown = versions.filter(({ group }) => (group === '') === (root === 'api'))
  const type = `application/json;g=apidiscovery.k8s.io;v=${aggregated};as=APIGroupDiscoveryList`
  return withHeader(json(200, aggregateDiscovery(shown, aggregated)), 'content-type', type)
}

/** The aggregated form, if the client wants one most; it tells by Content-Type whether it got one. */
function findAggregatedVersion(request: HttpRequest): DiscoveryVersion | undefined {
  for (const { type, parameters } of acceptedRanges(request)) {
    const { as, g: group, v: version } = parameters
    if (type !== 'application/json') continue
    if (as === undefined) return undefined
    if (
      as === 'APIGroupDiscoveryList' &&
      group === 'apidiscovery.k8s.io' &&
      (version === 'v2' || version === 'v2beta1')
    )
      return version
  }
  return undefined
}

function answerDocument(document: JsonObject | undefined): HttpResponse {
  if (document === undefined) throw noSuchPath()
  return json(200, document)
}

function asksForProtobuf(request: HttpRequest): boolean {
  const first = acceptedRanges(request).find(({ type }) => type.includes('protobuf') || jsonTypes.includes(type))
  return first?.type.includes('protobuf') === true
}

function openApiV2InProtobuf(version: string): HttpResponse {
  return { status: 200, headers: { 'content-type': openApiV2ProtobufType }, body: openApiV2Protobuf(version) }
}

function openApiV3(request: HttpRequest, path: string, { index, documents }: OpenApiDocuments): HttpResponse {
  const document = path === '' ? index : documents.get(path)
  if (document === undefined) throw noSuchPath()
  const isFixed = request.query.get('hash') === document.hash
  return unlessKnown(request, document, isFixed ? 'public, max-age=31536000, immutable' : 'no-cache')
}

/** With the ETag that the client sends next time, and without the text if it has it. */
function unlessKnown(request: HttpRequest, { text, hash }: HashedText, cacheControl: string): HttpResponse {
  const etag = `"${hash}"`
  const isKnown = (request.header('if-none-match') ?? '').includes(etag)
  const response = isKnown ? { status: 304, headers: {}, body: '' } : jsonText(200, text)
  return { ...response, headers: { ...response.headers, etag, vary: 'Accept', 'cache-control': cacheControl } }
}
