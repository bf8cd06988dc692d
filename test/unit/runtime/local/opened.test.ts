import { expect, it } from 'vitest'
import { Opened } from '../../../../shared/runtime/local/opened.ts'

async function open(closed: string[], how: 'fails' | 'succeeds'): Promise<void> {
  await using opened = new Opened()
  for (const name of ['first', 'second']) opened.adopt(name, async (one) => closed.push(one))
  opened.adopt('third', () => {
    closed.push('third')
    throw new Error('third cannot be closed')
  })
  if (how === 'succeeds') opened.handOver()
}

it('closes what a start has opened, the last first, and all of it though one cannot be closed', async () => {
  const closed: string[] = []
  await expect(open(closed, 'fails')).rejects.toThrow('third cannot be closed')
  expect(closed).toEqual(['third', 'second', 'first'])
})

it('closes nothing of a start that came to its end', async () => {
  const closed: string[] = []
  await open(closed, 'succeeds')
  expect(closed).toEqual([])
})
