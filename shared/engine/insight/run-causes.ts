import type { StoredObject } from '../../model/stored-object.ts'
import type { Turn } from '../state/turn.ts'

/** What is known of what woke an object. */
type Woken = Pick<Turn, 'isRepeated' | 'wakeUps'>

/** Why an object is run, for people. */
export function causesOf(turn: Woken, stored: StoredObject): readonly string[] {
  return isBackFromWait(turn, stored) ? ['its wait was over'] : turn.wakeUps.map(({ reason }) => reason)
}

/** Only time has passed: a timer, the resync, or a wake-up that comes back from a hold with nothing new. */
export function isUnprompted(turn: Woken, stored: StoredObject): boolean {
  return isBackFromWait(turn, stored) || bringsNoChange(turn)
}

export function bringsNoChange({ wakeUps }: Pick<Turn, 'wakeUps'>): boolean {
  return wakeUps.every(({ origin }) => origin !== 'change')
}

/** A wake-up comes back from a crash as well, before any run of what it tells of has ended: then nothing has waited. */
function isBackFromWait({ isRepeated }: Woken, { engine, object }: StoredObject): boolean {
  return isRepeated && engine.wait !== undefined && engine.wait.generation === object.metadata.generation
}
