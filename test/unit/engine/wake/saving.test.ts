import { expect, it } from 'vitest'
import { createSaving, type Saving } from '../../../../shared/engine/wake/saving.ts'
import { createProgress, type Progress } from '../../../../shared/engine/wake/progress.ts'

/** What is saved, in its order; a checkpoint whose name is in `full` takes nothing. */
function openSaving(full: ReadonlySet<string> = new Set()): {
  readonly saving: Saving
  readonly saved: readonly string[]
  readonly turns: Progress
} {
  const saved: string[] = []
  const checkpoint = (name: string) => ({
    load: () => Promise.reject(new Error('nothing is loaded')),
    save: async (value: string) => {
      if (full.has(name)) throw new Error('the disk is full')
      saved.push(`${name} ${value}`)
    },
  })
  const progressAt = (from: bigint) => createProgress({ from, positionOf: () => {} })
  const turns = progressAt(9n)
  const saving = createSaving({
    relayed: checkpoint('relayed'),
    turned: checkpoint('turned'),
    introduced: checkpoint('introduced'),
    changes: progressAt(7n),
    turns,
  })
  return { saving, saved, turns }
}

it('nothing is saved before it is known which loops are gone', async () => {
  const { saving, saved } = openSaving()
  await saving.save(0, true)
  await saving.saveAll()
  expect(saved).toEqual([])
  saving.begin()
  await saving.save(1, false)
  expect(saved).toEqual(['relayed 7', 'turned 9'])
})

it.each(['save', 'saveAll'] as const)('%s: loops that are gone are forgotten first, and once', async (name) => {
  const { saving, saved } = openSaving()
  saving.begin(['gadget'])
  await (name === 'save' ? saving.save(0, true) : saving.saveAll())
  await saving.saveAll()
  expect(saved).toEqual(['introduced ["gadget"]', 'relayed 7', 'turned 9'])
})

it.each(['save', 'saveAll'] as const)(
  '%s: what a loop misses is not passed while it is not forgotten',
  async (name) => {
    const full = new Set(['introduced'])
    const { saving, saved } = openSaving(full)
    saving.begin(['gadget'])
    await expect(name === 'save' ? saving.save(0, true) : saving.saveAll()).rejects.toThrow('full')
    expect(saved).toEqual([])
    full.clear()
    await saving.saveAll()
    expect(saved).toEqual(['introduced ["gadget"]', 'relayed 7', 'turned 9'])
  },
)

it('loops that have looked at everything are saved once that is safe', async () => {
  const { saving, saved } = openSaving()
  saving.begin()
  saving.introduce(['gadget'], 8n)
  await saving.save(0, false)
  saving.introduce(['gadget', 'link'], 7n)
  await saving.save(1, false)
  expect(saved).toEqual(['relayed 7', 'turned 9', 'introduced ["gadget","link"]'])
})

it('the wheel is saved when it has woken somebody, and once a minute', async () => {
  const { saving, saved, turns } = openSaving()
  saving.begin()
  const savedAt = async (nowMs: number, woke: boolean, turned: bigint): Promise<readonly string[]> => {
    turns.notePassed(turned)
    const before = saved.length
    await saving.save(nowMs, woke)
    return saved.slice(before)
  }
  expect(await savedAt(1_000, false, 10n)).toEqual(['relayed 7', 'turned 10'])
  expect(await savedAt(60_999, false, 11n)).toEqual([])
  expect(await savedAt(61_000, false, 12n)).toEqual(['turned 12'])
  expect(await savedAt(61_001, true, 13n)).toEqual(['turned 13'])
  expect(await savedAt(61_002, false, 14n)).toEqual([])
})

it('saveAll saves loops that have looked at everything, too', async () => {
  const { saving, saved } = openSaving()
  saving.begin()
  saving.introduce(['gadget'], 7n)
  await saving.saveAll()
  expect(saved).toEqual(['relayed 7', 'introduced ["gadget"]', 'turned 9'])
})
