import { expect, it } from 'vitest'
import { degraded, progressing, waiting } from '../../../shared/index.ts'

it('says that work is under way, and that none is', () => {
  expect(progressing(waiting('Upgrading', '1 of 3'))).toMatchObject({
    Progressing: { status: 'True', reason: 'Upgrading', message: '1 of 3' },
  })
  expect(progressing(false)).toEqual({ Progressing: { status: 'False', reason: 'Stable' } })
})

it('says that it works worse than declared, and that it does not', () => {
  expect(degraded(waiting('MemberLost', 'one is away'))).toMatchObject({
    Degraded: { status: 'True', reason: 'MemberLost', message: 'one is away' },
  })
  expect(degraded(false)).toEqual({ Degraded: { status: 'False', reason: 'AsDeclared' } })
})
