import { isCondition } from '../model/conditions.ts'
import { deprecationOf } from '../model/crd/deprecation.ts'
import type { CustomResourceDefinition } from '../model/custom-resource-definition.ts'
import type { ApiObject } from '../model/object.ts'
import type { KindFunctions } from './converted-reads.ts'
import { missingConversion } from './missing-conversion.ts'
import { conversionByWebhook, schemaInVersion, type ConversionSources } from './webhook-conversion.ts'
import type { PrinterColumn, ServedKind } from '../model/served-kind.ts'

/**
 * The kinds a CustomResourceDefinition makes served: one per served version, the stored one first. None until it is
 * established: somebody else may have its names, and the objects that go by them.
 */
export function servedKindsOf(
  definition: CustomResourceDefinition,
  functions?: Pick<KindFunctions, 'of' | 'hooksOf'>,
): readonly ServedKind[] {
  if (!isEstablished(definition)) return []
  const served = definition.spec.versions.filter((version) => version.served)
  return served
    .toSorted((a, b) => Number(b.storage) - Number(a.storage))
    .map((version) => kindOf(definition, version, functions))
}

/** The kind that its objects are stored as, served or not; undefined until it is established. */
export function storedKindOf(
  definition: CustomResourceDefinition,
  functions?: Pick<KindFunctions, 'of' | 'hooksOf'>,
): ServedKind | undefined {
  const { group, names, versions } = definition.spec
  const conversion = functions?.of(group, names.kind)
  const marked = versions.find(({ storage }) => storage)
  const version =
    conversion === undefined || marked === undefined
      ? marked
      : (versions.find(({ name }) => name === conversion.version) ?? {
          ...marked,
          name: conversion.version,
          schema: { openAPIV3Schema: conversion.schema },
        })
  return version !== undefined && isEstablished(definition) ? kindOf(definition, version, functions) : undefined
}

/**
 * The functions of the program; for kinds without any the webhooks that definitions name, if somebody asks them; and
 * for those that functions of another release convert, none that convert anything. A definition that waits for the name
 * of a kind says nothing of who converts its objects.
 */
export function withDefined(
  functions: KindFunctions | undefined,
  definitions: readonly CustomResourceDefinition[],
  sources?: ConversionSources,
): Pick<KindFunctions, 'of' | 'hooksOf'> {
  const conversions = new Map(
    definitions.filter(isEstablished).map((definition) => {
      const { group, names } = definition.spec
      const isOwn = functions?.hooksOf(group, names.kind) !== undefined
      const byWebhook = isOwn || sources === undefined ? undefined : conversionByWebhook(definition, sources)
      const conversion = functions?.of(group, names.kind) ?? byWebhook ?? missingConversion(definition)
      return [`${group}/${names.kind}`, conversion]
    }),
  )
  return {
    of: (group, kind) => conversions.get(`${group}/${kind}`),
    hooksOf: (group, kind) => functions?.hooksOf(group, kind),
  }
}

function isEstablished(definition: CustomResourceDefinition): boolean {
  return isCondition(definition as unknown as ApiObject, 'Established')
}

type Version = CustomResourceDefinition['spec']['versions'][number]

/** Kinds without functions, by their definitions and the names of their versions: as long as these are the same. */
const plainKinds = new WeakMap<CustomResourceDefinition, Map<string, ServedKind>>()

function kindOf(
  definition: CustomResourceDefinition,
  version: Version,
  functions?: Pick<KindFunctions, 'of' | 'hooksOf'>,
): ServedKind {
  const { spec, status } = definition
  const names = status?.acceptedNames ?? spec.names
  const conversion = functions?.of(spec.group, names.kind)
  const hooks = functions?.hooksOf(spec.group, names.kind)
  if (conversion !== undefined || hooks !== undefined) return makeKind(definition, version, { conversion, hooks })
  const known = plainKinds.get(definition) ?? new Map<string, ServedKind>()
  plainKinds.set(definition, known)
  const kind = known.get(version.name) ?? makeKind(definition, version, {})
  known.set(version.name, kind)
  return kind
}

function makeKind(
  { metadata, spec, status }: CustomResourceDefinition,
  version: Version,
  { conversion, hooks }: { readonly [Name in 'conversion' | 'hooks']?: ServedKind[Name] | undefined },
): ServedKind {
  const names = status?.acceptedNames ?? spec.names
  const deprecation = deprecationOf(spec, version)
  const served = spec.versions.filter((one) => one.served)
  return {
    group: spec.group,
    version: version.name,
    storageVersion: conversion?.version ?? spec.versions.find(({ storage }) => storage)?.name ?? '',
    versions: spec.versions.map(({ name }) => name),
    ...(served.length > 1 && { servedVersions: served.map(({ name }) => name) }),
    ...(conversion && { conversion }),
    ...(hooks && { hooks }),
    kind: names.kind,
    listKind: names.listKind ?? `${names.kind}List`,
    plural: names.plural,
    singular: names.singular ?? names.kind.toLowerCase(),
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: spec.scope === 'Namespaced',
    schema: schemaInVersion(version),
    hasStatus: version.subresources?.status !== undefined,
    ...(version.subresources?.scale === undefined ? {} : { scale: version.subresources.scale }),
    columns: version.additionalPrinterColumns ?? ageOnly,
    selectableFields: (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath.replace(/^\./, '')),
    builtIn: false,
    definedBy: nameOfSpec(metadata),
    ...(deprecation !== undefined && { deprecation }),
    ...(metadata.deletionTimestamp === undefined ? {} : { isEnding: true }),
  }
}

/** The mark for deletion moves the generation, and leaves the spec as it is. */
function nameOfSpec({ uid, generation = 1, deletionTimestamp }: CustomResourceDefinition['metadata']): string {
  return `${uid}/${generation - (deletionTimestamp === undefined ? 0 : 1)}`
}

const ageOnly: readonly PrinterColumn[] = [{ name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }]
