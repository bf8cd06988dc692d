import type { JsonObject } from '../../model/json.ts'
import type { ServedKind } from '../../model/served-kind.ts'
import { areSameKinds } from '../derive-from-kinds.ts'
import type { GroupVersion } from '../discovery/group-versions.ts'
import {
  addFields,
  hashContent,
  hashPieces,
  piecesOf,
  type FieldTexts,
  type HashedText,
  type Rest,
} from './hashed-text.ts'
import { kindPaths } from './kind-paths.ts'
import { kindSchemas } from './kind-schemas.ts'
import { metaSchemas } from './meta-schemas.ts'

/** OpenAPI v3 of everything that is served: one document per group version, and the index of them. */
export interface OpenApiDocuments {
  readonly index: HashedText
  /** By `api/v1` or `apis/G/V`. */
  readonly documents: ReadonlyMap<string, VersionText>
}

interface VersionText extends HashedText {
  readonly kinds: readonly ServedKind[]
}

/** Those of versions whose kinds have not changed since the documents `before` are the same. */
export async function openApiDocuments(
  versions: readonly GroupVersion[],
  { setpoint, rest }: { readonly setpoint: string; readonly rest: Rest },
  before?: OpenApiDocuments,
): Promise<OpenApiDocuments> {
  const documents = new Map<string, VersionText>()
  for (const version of versions) {
    const known = before?.documents.get(pathOf(version))
    const { kinds } = version
    const isKnown = known !== undefined && areSameKinds(kinds, known.kinds)
    const text = isKnown ? known : { ...(await hashPieces(await document(version, setpoint, rest), rest)), kinds }
    documents.set(pathOf(version), text)
  }
  const paths = [...documents].map(([path, { hash }]) => [
    path,
    { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` },
  ])
  return { index: hashContent({ paths: Object.fromEntries(paths) }), documents }
}

function pathOf({ group, version }: GroupVersion): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`
}

async function document({ kinds }: GroupVersion, setpoint: string, rest: Rest): Promise<readonly string[]> {
  const paths: FieldTexts = new Map()
  const schemas: FieldTexts = new Map()
  await addFields(schemas, metaSchemas, rest)
  for (const kind of kinds) {
    await addFields(paths, kindPaths(kind), rest)
    await addFields(schemas, kindSchemas(kind), rest)
  }
  const about: JsonObject = { openapi: '3.0.0', info: { title: 'Setpoint', version: setpoint } }
  return [
    `${JSON.stringify(about).slice(0, -1)},"paths":`,
    ...piecesOf(paths),
    ',"components":{"schemas":',
    ...piecesOf(schemas),
    '}}',
  ]
}
