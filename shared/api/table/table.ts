import type { Json, JsonObject } from '../../model/json.ts'
import type { ApiObject } from '../../model/object.ts'
import { storedAs, type ServedKind } from '../../model/served-kind.ts'
import { toTwin } from '../../model/twin.ts'
import { findBuiltInColumns } from './built-in-columns.ts'
import { age, nameColumn, printerColumn, type Column } from './column.ts'
import { reconcileColumns } from './reconcile-columns.ts'

/** A kind's table: what `kubectl get` prints. */
export interface TableShape {
  /** As `meta.k8s.io` Tables describe them. */
  readonly columnDefinitions: readonly JsonObject[]
  /** One per column; `null` where the object has no such value. */
  cells(object: ApiObject, nowMs: number): readonly Json[]
}

/** The table of a kind. The same kind value gives the same table. */
export function tableOf(kind: ServedKind): TableShape {
  const known = tables.get(kind)
  if (known !== undefined) return known
  const { twin } = kind
  const columns = columnsOf(storedAs(kind))
  const table: TableShape = {
    columnDefinitions: columns.map((column) => definition(column)),
    cells: (object, nowMs) => {
      const work = { values: rowValuesMax }
      const shown = twin === undefined ? object : toTwin(object, twin, twin.of)
      return columns.map((column) => column.cell(shown, nowMs, work))
    },
  }
  tables.set(kind, table)
  return table
}

/** The columns of a row look at no more values than this: what they have not found by then is left empty. */
const rowValuesMax = 5_000

const tables = new WeakMap<ServedKind, TableShape>()

function columnsOf(kind: ServedKind): readonly Column[] {
  const builtIn = findBuiltInColumns(kind)
  if (builtIn !== undefined) return builtIn
  const own = kind.columns.map(printerColumn)
  const showsAge = own.some(({ name }) => name.toLowerCase() === 'age')
  return [nameColumn, ...own, ...(showsAge ? [] : [age]), ...(kind.builtIn ? [] : reconcileColumns)]
}

function definition({ name, type, format = '', description = '', priority = 0 }: Column): JsonObject {
  return { name, type, format, description, priority }
}
