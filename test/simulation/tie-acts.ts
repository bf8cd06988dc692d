import type { ApiObject, JsonObject } from '../../shared/index.ts'
import type { OwnerReference } from '../../shared/model/object.ts'
import type { HttpResponse } from '../../shared/ports/http-handler.ts'
import { contentOf, pathOf, textOf } from './addresses.ts'
import { toolDefinition } from './kinds/tool.ts'
import type { Plane } from './plane.ts'
import type { KindName, Step } from './scenario.ts'

type Act = (step: Step) => Promise<HttpResponse | undefined>

export interface TieActsOptions {
  readonly plane: Plane
  /** Told of whom somebody is about to delete. */
  readonly disposed: Map<string, Set<Policy>>
}

/** How a step deletes, by its `size`. */
const policies = ['Background', 'Foreground', 'Orphan'] as const
export type Policy = (typeof policies)[number]

/** What those do who make objects owners of each other. A step's `to` is the kind of the owner and its name. */
export function createTieActs({ plane, disposed }: TieActsOptions): Readonly<Record<'tie' | 'untie' | 'dispose', Act>> {
  /** Who was last known by this name, whether it is there or not. */
  const known = new Map<string, string>()

  const ownerOf = ({ to }: Step): OwnerReference | undefined => {
    const [kind = '', name = ''] = to.split(' ')
    const uid = plane.table.items.get(textOf(kind as KindName, name))?.object.metadata.uid ?? known.get(to)
    if (uid === undefined) return undefined
    known.set(to, uid)
    const apiVersion = kind === 'ConfigMap' ? 'v1' : toolApiVersion
    return { apiVersion, kind, name, uid }
  }

  const make = (step: Step, metadata: JsonObject): ReturnType<Act> =>
    plane.request(`POST ${pathOf({ ...step, name: '' }).slice(0, -1)}`, {
      metadata: { ...metadata, name: step.name },
      ...contentOf(step),
    })

  /** On condition that nobody else wrote meanwhile, as who edits a list has to. */
  const change = async (step: Step, next: (owners: readonly OwnerReference[]) => OwnerReference[]): ReturnType<Act> => {
    const found = await plane.request(`GET ${pathOf(step)}`)
    if (found?.status === 404) return make(step, { ownerReferences: next([]) })
    if (found?.status !== 200) return found
    const { metadata } = JSON.parse(String(found.body)) as ApiObject
    const { resourceVersion, ownerReferences = [] } = metadata
    return plane.request(`PATCH ${pathOf(step)}`, {
      metadata: { resourceVersion, ownerReferences: next(ownerReferences) as unknown as JsonObject[] },
    })
  }

  return {
    tie: async (step) => {
      const owner = ownerOf(step)
      if (owner === undefined) return change(step, (owners) => [...owners])
      const one = { ...owner, ...(step.value > 0 && { blockOwnerDeletion: true }) }
      return change(step, (owners) => (step.size === 0 ? [one] : [...owners.filter(({ uid }) => uid !== one.uid), one]))
    },
    untie: (step) => change(step, (owners) => owners.filter(({ kind, name }) => `${kind} ${name}` !== step.to)),
    dispose: (step) => {
      const uid = plane.table.items.get(textOf(step.kind, step.name))?.object.metadata.uid
      if (uid === undefined) return noAnswer
      const propagationPolicy = policies[step.size] ?? 'Background'
      disposed.set(uid, new Set(disposed.get(uid)).add(propagationPolicy))
      return plane.request(`DELETE ${pathOf(step)}`, { propagationPolicy, preconditions: { uid } })
    },
  }
}

const toolApiVersion = `${toolDefinition.spec['group'] as string}/v1`

const noAnswer: ReturnType<Act> = Promise.resolve<HttpResponse | undefined>(void 0)
