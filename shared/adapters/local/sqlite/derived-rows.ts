import { keyOf } from '../../../model/object-key.ts'
import type { StoredObject } from '../../../model/stored-object.ts'
import { wheelSlot } from '../../../model/wheel.ts'
import { indexedOf, type SummedRow } from './sqlite-rows.ts'

/**
 * What stands of an object beside its state. All of it follows from the state, which has a checksum: where the two
 * differ, the state is right.
 */
export interface DerivedRow {
  readonly id: number
  readonly rv: number
  readonly api_group: string
  readonly kind_name: string
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly slot: number
  readonly owners: string | null
  readonly next_run_at_ms: number | null
  /** The number of its kind by its own row, by its head, and by its state. */
  readonly kind: number
  readonly head_kind: number | null
  readonly state_kind: number | null
}

export type StatedRow = DerivedRow & SummedRow

/** Each object with its present state: `doc` is null where it has none. Reads no index. */
export const selectDerived = `
  SELECT o.id, o.kind, o.namespace, o.name, o.uid, o.slot, o.owners, k.api_group, k.kind AS kind_name, h.rv, h.kind AS head_kind,
    h.next_run_at_ms, c.kind AS state_kind, c.doc, c.engine, c.sum
  FROM objects o NOT INDEXED LEFT JOIN kinds k ON k.id = o.kind LEFT JOIN heads h ON h.id = o.id
  LEFT JOIN changes c ON c.rv = h.rv AND c.object_id = o.id`

/** What the state says that the columns are to be. */
export function derive(stored: StoredObject): Omit<DerivedRow, 'id' | 'rv' | 'kind' | 'head_kind' | 'state_kind'> {
  const { group, kind, namespace, name } = keyOf(stored.object)
  const { uid } = stored.object.metadata
  const { nextRunAtMs, owners } = indexedOf(stored)
  return {
    api_group: group,
    kind_name: kind,
    namespace,
    name,
    uid,
    slot: wheelSlot(uid),
    owners,
    next_run_at_ms: nextRunAtMs,
  }
}

/** The columns that are not what the state says. */
export function compareWithState(row: DerivedRow, stored: StoredObject): readonly string[] {
  const right = derive(stored)
  const names = Object.keys(right) as (keyof typeof right)[]
  const numbers = row.kind === row.head_kind && row.kind === row.state_kind ? [] : ['number of the kind']
  return [...names.filter((name) => row[name] !== right[name]), ...numbers]
}
