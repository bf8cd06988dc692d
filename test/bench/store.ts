import { DatabaseSync } from 'node:sqlite'
import { openSqlite, temporaryFile } from '../support/sqlite.ts'
import { createSeededRandom } from '../../shared/testing/seeded-random.ts'
import type { StoredObject } from '../../shared/model/stored-object.ts'

/**
 * The SQLite store beside the bare limits of SQLite on this disk in the same run: documents of 1.2 KB, random objects,
 * one fsync per commit, so many writers per commit as the batch says. Each figure is the best of the interleaved
 * rounds: what else runs on the machine can only slow one down.
 *
 *     node test/bench/store.ts [objects ...]
 */
const counts = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [1_000, 100_000]
const batches = [1, 8, 64]
const rounds = 6

const random = createSeededRandom(1)
const texts = Array.from({ length: 1_000 }, (_, i) => String.fromCharCode(97 + (i % 26)).repeat(450 + (i % 100)))
const documents = Array.from({ length: 1_000 }, (_, i) => JSON.stringify(objectOf(i)))

interface Subject {
  readonly name: string
  /** Writes this many random documents in one commit. */
  write(batch: number): Promise<void> | void
  close(): void
}

interface Figure {
  readonly rowsPerSecond: number
  readonly cpuUsPerRow: number
  /** The longest commit: what a checkpoint costs those who wait. */
  readonly longestMs: number
}

for (const count of counts) await compare(count)
await readsAndRestart(counts.at(-1) ?? 0)

async function compare(count: number): Promise<void> {
  const subjects = [bareAppend(count), bareUpdate(count), await store(count)]
  const figures = new Map<string, Figure[]>()
  for (let round = 0; round < rounds; round++) {
    for (const batch of batches) {
      for (const subject of subjects) {
        const name = `${subject.name} ${batch}`
        figures.set(name, [...(figures.get(name) ?? []), await measure(subject, batch)])
      }
    }
  }
  console.log(`\n${count} objects: rows/s (CPU us per row, longest commit ms) at ${batches.join(', ')} rows per commit`)
  for (const { name } of subjects) {
    const row = batches.map((batch) => {
      const { rowsPerSecond, cpuUsPerRow, longestMs } = best(figures.get(`${name} ${batch}`) ?? [])
      const share = rowsPerSecond / best(figures.get(`bare append ${batch}`) ?? []).rowsPerSecond
      return `${Math.round(rowsPerSecond)} (${cpuUsPerRow.toFixed(1)}, ${longestMs.toFixed(1)}) ${share.toFixed(2)}`
    })
    console.log(name.padEnd(24), row.map((text) => text.padEnd(28)).join(''))
  }
  for (const subject of subjects) subject.close()
}

async function measure({ write }: Subject, batch: number): Promise<Figure> {
  const rows = batch * (batch === 1 ? 1_500 : batch === 8 ? 1_000 : 500)
  const cpu = process.cpuUsage()
  const start = performance.now()
  let longestMs = 0
  for (let done = 0; done < rows; done += batch) {
    const begun = performance.now()
    await write(batch)
    longestMs = Math.max(longestMs, performance.now() - begun)
  }
  const seconds = (performance.now() - start) / 1_000
  const { user, system } = process.cpuUsage(cpu)
  return { rowsPerSecond: rows / seconds, cpuUsPerRow: (user + system) / rows, longestMs }
}

function best(figures: readonly Figure[]): Figure {
  return figures.reduce((a, b) => (a.rowsPerSecond > b.rowsPerSecond ? a : b))
}

/** What no store on SQLite can be faster than: the documents at the end of a table, and nothing to find them by. */
function bareAppend(count: number): Subject {
  const { connection, close } = bareConnection('CREATE TABLE log (rv INTEGER PRIMARY KEY, doc TEXT)')
  const insert = connection.prepare('INSERT INTO log (doc) VALUES (?)')
  fill(connection, count, (i) => insert.run(documentOf(i)))
  return {
    name: 'bare append',
    close,
    write: (batch) => inCommit(connection, batch, () => insert.run(documentOf(anyOf(count)))),
  }
}

/** What no store that updates in place can be faster than. */
function bareUpdate(count: number): Subject {
  const { connection, close } = bareConnection('CREATE TABLE objects (id INTEGER PRIMARY KEY, doc TEXT)')
  const insert = connection.prepare('INSERT INTO objects VALUES (?, ?)')
  const update = connection.prepare('UPDATE objects SET doc = ? WHERE id = ?')
  fill(connection, count, (i) => insert.run(i, documentOf(i)))
  const write = (): unknown => update.run(documentOf(anyOf(1_000)), anyOf(count))
  return { name: 'bare update by id', close, write: (batch) => inCommit(connection, batch, write) }
}

async function store(count: number): Promise<Subject> {
  const { file, remove } = temporaryFile()
  const opened = openSqlite(file)
  const live = await createAll(opened.store, count)
  const replace = async (): Promise<void> => {
    const i = anyOf(count)
    const before = live[i] as StoredObject
    // Two writers of one object would conflict: the second one of a batch passes.
    live[i] = undefined
    if (before === undefined) return
    live[i] = await opened.store.replace({ ...before, object: { ...before.object, spec: specOf(anyOf(1_000)) } }, [
      'spec',
    ])
  }
  return {
    name: 'SQLite store',
    write: async (batch) => void (await Promise.all(Array.from({ length: batch }, replace))),
    close: () => {
      opened.close()
      remove()
    },
  }
}

async function createAll(
  to: ReturnType<typeof openSqlite>['store'],
  count: number,
): Promise<(StoredObject | undefined)[]> {
  const live: StoredObject[] = []
  for (let i = 0; i < count; i += 500) {
    const batch = Array.from({ length: Math.min(500, count - i) }, (_, j) =>
      to.create({ object: objectOf(i + j), engine: {} }),
    )
    live.push(...(await Promise.all(batch)))
  }
  return live
}

async function readsAndRestart(count: number): Promise<void> {
  const { file, remove } = temporaryFile()
  const first = openSqlite(file)
  await createAll(first.store, count)
  first.close()
  const openMs = await timed(() => openSqlite(file).close())
  const { store: reopened, close } = openSqlite(file)
  const heapBefore = process.memoryUsage().heapUsed
  const page = { group: 'storage.example.com', kind: 'BackupPolicy', limit: 500 }
  await reopened.list(page)
  const pageMs = (await timed(async () => repeat(20, () => reopened.list(page)))) / 20
  const key = (): Parameters<typeof reopened.get>[0] => {
    const { metadata } = objectOf(anyOf(count))
    return { ...page, namespace: metadata.namespace ?? '', name: metadata.name }
  }
  const getUs = ((await timed(async () => repeat(20_000, async () => reopened.get(key())))) / 20_000) * 1_000
  const heap = (process.memoryUsage().heapUsed - heapBefore) / count
  console.log(
    `\n${count} objects: open ${openMs.toFixed(1)} ms, list page of 500 ${pageMs.toFixed(2)} ms, get ${getUs.toFixed(1)} us`,
  )
  console.log(`heap per object after reading: ${heap.toFixed(0)} bytes`)
  close()
  remove()
}

async function repeat(times: number, act: () => Promise<unknown>): Promise<void> {
  for (let i = 0; i < times; i++) await act()
}

async function timed(act: () => Promise<unknown> | void): Promise<number> {
  const start = performance.now()
  await act()
  return performance.now() - start
}

function bareConnection(schema: string): { readonly connection: DatabaseSync; close(): void } {
  const { file, remove } = temporaryFile()
  const connection = new DatabaseSync(file)
  connection.exec(
    'PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -16384',
  )
  connection.exec(`PRAGMA wal_autocheckpoint = 4000; ${schema}`)
  const close = (): void => {
    connection.close()
    remove()
  }
  return { connection, close }
}

function fill(connection: DatabaseSync, count: number, insert: (i: number) => unknown): void {
  let next = 0
  while (next < count) inCommit(connection, Math.min(1_000, count - next), () => insert(next++))
}

function inCommit(connection: DatabaseSync, rows: number, write: () => unknown): void {
  connection.exec('BEGIN')
  for (let i = 0; i < rows; i++) write()
  connection.exec('COMMIT')
}

function anyOf(count: number): number {
  return Math.floor(random.next() * count)
}

function documentOf(i: number): string {
  return documents[i % documents.length] as string
}

function specOf(i: number): NonNullable<StoredObject['object']['spec']> {
  return { text: texts[i % texts.length], number: i }
}

function objectOf(i: number): StoredObject['object'] {
  return {
    apiVersion: 'storage.example.com/v1alpha1',
    kind: 'BackupPolicy',
    metadata: {
      name: `policy-${i}`,
      namespace: `team-${i % 50}`,
      uid: `0f8fad5b-d9cb-469f-a165-${String(i).padStart(12, '0')}`,
      resourceVersion: '123456',
      generation: 3,
      creationTimestamp: '2026-11-21T00:00:00Z',
      labels: { 'app.kubernetes.io/name': 'backup', team: `team-${i % 50}` },
      managedFields: [
        {
          manager: 'kubectl',
          operation: 'Apply',
          apiVersion: 'v1',
          fieldsType: 'FieldsV1',
          fieldsV1: { 'f:spec': { 'f:text': {}, 'f:number': {} } },
        },
      ],
    },
    spec: specOf(i),
    status: {
      observedGeneration: 3,
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'Done',
          message: 'in order',
          lastTransitionTime: '2026-11-21T00:00:00Z',
        },
      ],
    },
  }
}
