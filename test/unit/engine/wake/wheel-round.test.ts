import { describe, expect, it } from 'vitest'
import { goRound } from '../../../../shared/engine/wake/wheel-round.ts'

/** Where it stands, which slots it visited, and what it had seen whenever it was asked whether that is enough. */
async function round(fromSlot: number, found: (visit: number) => number, most = Infinity) {
  const visits: string[] = []
  const asked: number[] = []
  const visit = async ({ from, to }: { readonly from: number; readonly to: number }): Promise<number> => {
    visits.push(`${from}-${to}`)
    return found(visits.length - 1)
  }
  const at = await goRound(fromSlot, visit, (seen) => {
    asked.push(seen)
    return seen >= most
  })
  return { at, visits, asked }
}

describe('goRound', () => {
  it('grows its slices while there is little on them, to the end of the wheel', async () => {
    const { at, visits } = await round(3_500, () => 0)
    expect(at).toBe(3_600)
    expect(visits).toEqual(['3500-3501', '3501-3503', '3503-3507', '3507-3515', '3515-3531', '3531-3563', '3563-3600'])
  })

  it.each([
    [49, ['0-1', '1-3']],
    [50, ['0-1', '1-2']],
  ])('takes %d on a slice for little or not', async (found, visits) => {
    expect((await round(0, () => found, 60)).visits).toEqual(visits)
  })

  it('ends when it has seen enough, and goes on from there', async () => {
    expect(await round(0, (visit) => [60, 70, 80][visit] ?? 0, 130)).toEqual({
      at: 2,
      visits: ['0-1', '1-2'],
      asked: [0, 60, 130],
    })
    expect(await round(5, () => 0, 0)).toEqual({ at: 5, visits: [], asked: [0] })
  })

  it('visits nothing behind the last slot', async () => {
    expect((await round(3_599, () => 0)).visits).toEqual(['3599-3600'])
    expect((await round(3_600, () => 0)).visits).toEqual([])
  })
})
