import { OperatingError } from '../model/errors.ts'
import { isObject, type Json, type JsonObject } from '../model/json.ts'
import { notSupported } from '../model/schema/field-error.ts'
import type { HttpRequest } from '../ports/http-handler.ts'
import type { DeleteOptions } from '../resources/resources.ts'
import { checkDryRun, fieldManager, flag, refuseOptions, textParameter } from './query.ts'
import { readOptionalObject } from './request-body.ts'

/** The options of a delete: from its body, or without one from its query. Throws INVALID, BAD_REQUEST. */
export async function readDeleteOptions(request: HttpRequest): Promise<DeleteOptions> {
  const given = (await readOptionalObject(request)) ?? fromQuery(request.query)
  const dryRun = asList(given['dryRun'])
  const propagation = propagationOf(given)
  refuseOptions('DeleteOptions', [
    ...checkDryRun(dryRun),
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
  }
}

/** As Kubernetes names it. */
const ignoreDamage = 'ignoreStoreReadErrorWithClusterBreakingPotential'

const propagations = ['Background', 'Foreground', 'Orphan'] as const

function isPropagation(value: unknown): value is (typeof propagations)[number] {
  return propagations.some((known) => known === value)
}

function fromQuery(query: URLSearchParams): JsonObject {
  const propagationPolicy = textParameter(query, 'propagationPolicy')
  return {
    dryRun: query.getAll('dryRun'),
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
    ...(query.has(ignoreDamage) ? { [ignoreDamage]: flag(query, ignoreDamage) } : {}),
    ...(query.has('orphanDependents') ? { orphanDependents: flag(query, 'orphanDependents') } : {}),
  }
}

/** `orphanDependents` is the older way to say it. */
function propagationOf({ propagationPolicy, orphanDependents }: JsonObject): Json | undefined {
  if (propagationPolicy !== undefined && propagationPolicy !== null) return propagationPolicy
  return orphanDependents === true ? 'Orphan' : undefined
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
