import * as z from 'zod'
import { defineExternal, defineKind, externalStatus, type Controller } from '../../../shared/index.ts'
import type { Life } from '../life.ts'
import type { RegistryClient, RegistryTraits } from '../registry.ts'
import type { RunWatcher } from '../runs.ts'
import { watched } from './watched.ts'

/** An entity in a system outside that chooses its id. */
export const Deed = defineKind({
  group: 'simulation.setpoint.dev',
  version: 'v1',
  kind: 'Deed',
  spec: z.object({ value: z.number().int() }),
  status: externalStatus,
})

/** So long, at most, an entity is not seen, and a lost create is late: as the author of the kind has been told. */
export const graceMs = 30_000

export interface DeedOptions {
  readonly life: Life
  readonly registry: RegistryClient
  readonly watcher: RunWatcher
  readonly traits: RegistryTraits
}

export function deedController({ life, registry, watcher, traits }: DeedOptions): Controller {
  const controller = defineExternal(Deed, {
    connect: async () => registry,
    declared: ({ metadata: { name }, spec }, { owner }) => ({ name, value: spec.value, owner: owner.uid }),
    api: {
      get: (_, id) => registry.get(id),
      ...(traits.finds && { find: (_: RegistryClient, { uid }: { readonly uid: string }) => registry.find(uid) }),
      create: (_, { name, value }, { uid, token }) =>
        registry.create({ name: String(name), value: Number(value), owner: uid }, token),
      update: (_, id, { value }) => registry.update(id, Number(value)),
      delete: (_, id) => registry.delete(id),
      idOf: ({ id }) => String(id),
      ownerOf: ({ owner }) => String(owner),
      markedIn: ['owner'],
      immutable: ['name'],
      createsOncePerToken: traits.tokens,
    },
    grace: `${graceMs / 1_000}s`,
    timeout: '30s',
  })
  return watched(controller, watcher, life)
}
