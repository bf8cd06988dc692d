import type { JsonObject } from '../../model/json.ts'
import type { GroupVersion } from '../discovery/group-versions.ts'
import { kindPaths } from './kind-paths.ts'
import { kindSchemas } from './kind-schemas.ts'
import { metaSchemas } from './meta-schemas.ts'
import { textHash } from './text-hash.ts'

/** A document as it is sent, with the hash of its text. */
export interface HashedText {
  readonly text: string
  readonly hash: string
}

/** OpenAPI v3 of everything that is served: one document per group version, and the index of them. */
export interface OpenApiDocuments {
  readonly index: HashedText
  /** By `api/v1` or `apis/G/V`. */
  readonly documents: ReadonlyMap<string, HashedText>
}

export function openApiDocuments(versions: readonly GroupVersion[], setpoint: string): OpenApiDocuments {
  const documents = new Map(versions.map((version) => [pathOf(version), hashContent(document(version, setpoint))]))
  const paths = [...documents].map(([path, { hash }]) => [
    path,
    { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` },
  ])
  return { index: hashContent({ paths: Object.fromEntries(paths) }), documents }
}

function pathOf({ group, version }: GroupVersion): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`
}

function document({ kinds }: GroupVersion, setpoint: string): JsonObject {
  return {
    openapi: '3.0.0',
    info: { title: 'Setpoint', version: setpoint },
    paths: Object.assign({}, ...kinds.map(kindPaths)) as JsonObject,
    components: { schemas: Object.assign({}, metaSchemas, ...kinds.map(kindSchemas)) as JsonObject },
  }
}

/** The document as it is sent. */
export function hashContent(content: JsonObject): HashedText {
  const text = JSON.stringify(content)
  return { text, hash: textHash(text) }
}
