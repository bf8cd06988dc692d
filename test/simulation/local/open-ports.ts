import { createSqliteChangeLog } from '../../../shared/adapters/local/sqlite/sqlite-change-log.ts'
import { openSqliteDatabase } from '../../../shared/adapters/local/sqlite/sqlite-database.ts'
import type { Checkpoint } from '../../../shared/ports/checkpoint.ts'
import type { ObjectKey } from '../../../shared/model/object-key.ts'
import type { StoredObject } from '../../../shared/model/stored-object.ts'
import { assemblePorts, type LocalPorts } from '../../../shared/runtime/local/ports.ts'
import { through, type Life, type Network } from '../life.ts'
import type { Disk } from './disk.ts'
import { withFailingCommits } from './failing-commits.ts'
import type { Machine } from './machine.ts'
import type { LocalTrouble } from '../scenario.ts'
import type { CommitRecord } from './record.ts'

/** What one process has of its file. */
export interface OpenPorts {
  /** As the process sees them: calls take time and fail, and end with the process. */
  readonly ports: LocalPorts
  /** As they are. */
  readonly bare: LocalPorts
  close(): void
}

export interface OpenOptions {
  readonly life: Life
  readonly machine: Machine
  readonly record: CommitRecord
  readonly disk: Disk
  readonly network: Network
  readonly local: LocalTrouble | undefined
}

/** Opens the file for a process: the real adapters for SQLite. */
export function openPorts({ life, machine, record, disk, network, local }: OpenOptions): OpenPorts {
  const { checkpointPages, retainedCharacters, commitFailure = 0 } = local ?? {}
  const opened = openSqliteDatabase(disk.file())
  const database = commitFailure === 0 ? opened : withFailingCommits(opened, drawFailures(life, network, commitFailure))
  if (checkpointPages !== undefined) database.prepare(`PRAGMA wal_autocheckpoint = ${checkpointPages}`).get()
  const retention = retainedCharacters === undefined ? {} : { retainedCharacters }
  const changeLog = createSqliteChangeLog({ database, clock: life.clock, ...retention })
  const synchronous = database.prepare('PRAGMA synchronous')
  machine.opened(() => Number(synchronous.get()?.['synchronous']) >= full)
  record.catchUp(changeLog, life)
  changeLog.subscribe((published) => {
    if (!life.isDead()) record.tell(published, life, machine.isCommitDoubtful())
  })
  const bare = assemblePorts(database, changeLog)
  const see = <Port extends object>(port: Port, name: string, ...writes: readonly string[]): Port =>
    through(port, name, { network, life, writes })
  const checkpoint = (name: 'relayed' | 'turned' | 'introduced'): Checkpoint => see(bare[name], name, 'save')
  return {
    bare,
    ports: {
      ...bare,
      store: through(bare.store, 'store', {
        network,
        life,
        writes: ['create', 'replace', 'remove'],
        refusal: (args) => isFull(args[0] as ObjectKey | StoredObject, network),
      }),
      index: see(bare.index, 'index', 'setReferences'),
      relayed: checkpoint('relayed'),
      turned: checkpoint('turned'),
      introduced: checkpoint('introduced'),
      feed: { ...bare.feed, latest: see(bare.feed, 'feed').latest },
    },
    close: () => database.close(),
  }
}

function drawFailures({ name }: Life, { world, isCalm }: Network, share: number): () => boolean {
  const random = world.random.fork(`commits ${name}`)
  return () => {
    if (isCalm() || random.next() >= share) return false
    world.fault('commit failed')
    return true
  }
}

/** As SQLite says it: a commit returns after its fsync. */
const full = 2

/** A disk that is full now and then refuses what is written, and not what is read. */
function isFull(arg: ObjectKey | StoredObject, { climate, world, random }: Network): boolean {
  if (!climate().hotPartition || !('object' in arg)) return false
  return Math.floor(world.nowMs() / 60_000) % 3 === 0 && random.next() < 0.75
}
