import { OperatingError } from '../model/errors.ts'
import { isObject, type Json, type JsonObject } from '../model/json.ts'
import { invalid, notSupported, type FieldError } from '../model/schema/field-error.ts'
import type { HttpRequest } from '../ports/http-handler.ts'
import type { DeleteOptions } from '../resources/resources.ts'
import { checkDryRun, fieldManager, flag, integer, refuseOptions, textParameter } from './query.ts'
import { readOptionalObject } from './request-body.ts'

/** The options of a delete: from its body, or without one from its query. Throws INVALID, BAD_REQUEST. */
export async function readDeleteOptions(request: HttpRequest): Promise<DeleteOptions> {
  const given = (await readOptionalObject(request)) ?? fromQuery(request.query)
  checkTypes(given)
  const dryRun = asList(given['dryRun'])
  const propagation = propagationOf(given)
  refuseOptions('DeleteOptions', [
    ...checkDryRun(dryRun),
    ...checkOneSaid(given),
    ...(propagation === undefined || isPropagation(propagation)
      ? []
      : [notSupported('propagationPolicy', propagation, propagations)]),
  ])
  return {
    manager: fieldManager(request),
    dryRun: dryRun.length > 0,
    ...(isPropagation(propagation) ? { propagation } : {}),
    ...preconditionsOf(given),
    ignoreDamage: given[ignoreDamage] === true,
    said: saidOf(given),
  }
}

/** The same for many objects: what cannot be read is in no list, and goes one by one. */
export async function readOptionsForMany(request: HttpRequest): Promise<DeleteOptions> {
  const options = await readDeleteOptions(request)
  const why = 'is not allowed with DELETECOLLECTION, try again after removing the option'
  refuseOptions('DeleteOptions', options.ignoreDamage === true ? [invalid(ignoreDamage, true, why)] : [])
  return options
}

/** As Kubernetes names it. */
const ignoreDamage = 'ignoreStoreReadErrorWithClusterBreakingPotential'

/** The options that are given, for policies and webhooks. */
function saidOf(given: JsonObject): JsonObject {
  const isGiven = (value: Json | undefined): boolean =>
    value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)
  return Object.fromEntries(
    optionNames.map((name) => [name, given[name]]).filter(([, value]) => isGiven(value as Json)),
  )
}

const optionNames = [
  'dryRun',
  'gracePeriodSeconds',
  'orphanDependents',
  'preconditions',
  'propagationPolicy',
  ignoreDamage,
] as const

const propagations = ['Background', 'Foreground', 'Orphan'] as const

function isPropagation(value: unknown): value is (typeof propagations)[number] {
  return propagations.some((known) => known === value)
}

function fromQuery(query: URLSearchParams): JsonObject {
  const propagationPolicy = textParameter(query, 'propagationPolicy')
  const preconditions = preconditionsFromQuery(query)
  return {
    dryRun: query.getAll('dryRun'),
    gracePeriodSeconds: integer(query, 'gracePeriodSeconds') ?? null,
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
    ...(query.has(ignoreDamage) ? { [ignoreDamage]: flag(query, ignoreDamage) } : {}),
    ...(query.has('orphanDependents') ? { orphanDependents: flag(query, 'orphanDependents') } : {}),
    ...(preconditions && { preconditions }),
  }
}

/** Each stands alone in a query. Source: apimachinery, `Convert_url_Values_To_v1_DeleteOptions`. */
function preconditionsFromQuery(query: URLSearchParams): JsonObject | undefined {
  const uid = textParameter(query, 'uid')
  const resourceVersion = textParameter(query, 'resourceVersion')
  if (uid === undefined && resourceVersion === undefined) return undefined
  return { ...(uid !== undefined && { uid }), ...(resourceVersion !== undefined && { resourceVersion }) }
}

/** Throws BAD_REQUEST: an option that is not understood must not be passed over by a delete. */
function checkTypes({
  kind,
  gracePeriodSeconds: grace,
  orphanDependents,
  propagationPolicy,
  preconditions,
  [ignoreDamage]: ignores,
}: JsonObject) {
  requireType(kind, 'kind', 'DeleteOptions', kind === 'DeleteOptions' || kind === '')
  requireType(grace, 'gracePeriodSeconds', 'an integer', Number.isSafeInteger(grace))
  requireType(orphanDependents, 'orphanDependents', 'a boolean', typeof orphanDependents === 'boolean')
  requireType(ignores, ignoreDamage, 'a boolean', typeof ignores === 'boolean')
  requireType(propagationPolicy, 'propagationPolicy', 'a string', typeof propagationPolicy === 'string')
  requireType(preconditions, 'preconditions', 'an object', isObject(preconditions))
  if (!isObject(preconditions)) return
  for (const name of ['uid', 'resourceVersion'])
    requireType(preconditions[name], `preconditions.${name}`, 'a string', typeof preconditions[name] === 'string')
}

function requireType(value: Json | undefined, name: string, wanted: string, fits: boolean): void {
  if (fits || value === undefined || value === null) return
  throw new OperatingError('BAD_REQUEST', `DeleteOptions: ${name} must be ${wanted}`)
}

function checkOneSaid({ orphanDependents, propagationPolicy }: JsonObject): readonly FieldError[] {
  if ((orphanDependents ?? undefined) === undefined || (propagationPolicy ?? undefined) === undefined) return []
  return [
    invalid('propagationPolicy', propagationPolicy, 'orphanDependents and deletionPropagation cannot be both set'),
  ]
}

/** `orphanDependents` is the older way to say it. */
function propagationOf({ propagationPolicy, orphanDependents }: JsonObject): Json | undefined {
  if (propagationPolicy !== undefined && propagationPolicy !== null) return propagationPolicy
  if (typeof orphanDependents !== 'boolean') return undefined
  return orphanDependents ? 'Orphan' : 'Background'
}

function asList(value: Json | undefined): readonly Json[] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) return value
  throw new OperatingError('BAD_REQUEST', 'dryRun must be a list')
}

function preconditionsOf({ preconditions }: JsonObject): Pick<DeleteOptions, 'preconditions'> {
  if (!isObject(preconditions)) return {}
  const { uid, resourceVersion } = preconditions
  return {
    preconditions: {
      ...(typeof uid === 'string' ? { uid } : {}),
      ...(typeof resourceVersion === 'string' ? { resourceVersion } : {}),
    },
  }
}
