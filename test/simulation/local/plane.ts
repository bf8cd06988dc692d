import { clearSky, type Climate } from '../climate.ts'
import type { Network } from '../life.ts'
import type { Plane, PlaneOptions } from '../plane.ts'
import { createClients } from './clients.ts'
import { createDisk } from './disk.ts'
import { createMachine } from './machine.ts'
import { createRecord } from './record.ts'
import { createSupervisor } from './supervisor.ts'
import { fillDisk } from './template.ts'

/** The local engine: one process over one file, which is started again whenever it has died. */
export function startLocalPlane(options: PlaneOptions): Plane {
  const { world, scenario } = options
  const { climate } = scenario
  let weather = climate
  // Who dies or stands still does so as a whole.
  let onTheWay: Climate = { ...climate, crash: 0, pause: 0 }
  const disk = createDisk()
  const record = createRecord(options)
  const machine = createMachine({ world, scenario, disk, onCommitted: record.settle })
  const random = world.random.fork('supervisor')
  const isCalm = (): boolean => weather !== climate
  const network: Network = {
    world,
    random: world.random.fork('network'),
    climate: () => onTheWay,
    isCalm,
    isLocal: true,
  }
  const supervisor = createSupervisor({ ...options, random, network, machine, disk, record, isCalm })
  const { findRunning, backlog } = supervisor

  return {
    table: { items: record.items, reservations: new Map() },
    begin: async () => {
      await fillDisk(disk, scenario)
      record.open(disk.file())
      supervisor.begin()
    },
    ...createClients({ world, random, findRunning }),
    backlog,
    calmDown: () => {
      weather = { ...clearSky, latencyMsMax: 0 }
      onTheWay = weather
      machine.calmDown()
    },
    end: () => {
      supervisor.end()
      disk.remove()
    },
  }
}
