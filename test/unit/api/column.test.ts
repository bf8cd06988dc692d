import { describe, expect, it } from 'vitest'
import { age, printerColumn } from '../../../shared/api/table/column.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import type { PrinterColumn } from '../../../shared/model/served-kind.ts'

const nowMs = Date.parse('2026-01-01T00:01:30Z')

function cellOf(type: PrinterColumn['type'], value: unknown): unknown {
  const column = printerColumn({ name: 'C', type, jsonPath: '.spec.value' })
  return column.cell({ spec: { value } } as unknown as ApiObject, nowMs)
}

describe('a cell', () => {
  it.each([
    ['integer', 3.9, 3],
    ['integer', -3.9, -3],
    ['integer', '3', null],
    ['number', 3.9, 3.9],
    ['number', '3.9', null],
    ['number', true, null],
    ['boolean', false, false],
    ['boolean', 'false', null],
    ['boolean', 0, null],
    ['date', '2026-01-01T00:00:00Z', '90s'],
    ['date', 'yesterday', '<invalid>'],
    ['date', 5, null],
    ['string', 'a', 'a'],
    ['string', 5, '5'],
    ['string', false, 'false'],
    ['string', { b: 1, a: [2] }, '{"a":[2],"b":1}'],
    ['string', null, null],
    ['string', undefined, null],
    ['string', 'x'.repeat(4_096), 'x'.repeat(4_096)],
    ['string', 'x'.repeat(4_097), `${'x'.repeat(4_096)}…`],
    ['string', Array.from({ length: 3_000 }, () => 1), `[${'1,'.repeat(2_047)}1…`],
    ['string', ['x'.repeat(5_000)], `["${'x'.repeat(4_094)}…`],
  ] as const)('of type %s for %j is %j', (type, value, cell) => {
    expect(cellOf(type, value)).toBe(cell)
  })

  it('of an age is unknown where there is no time', () => {
    const of = (creationTimestamp: unknown) => age.cell({ metadata: { creationTimestamp } } as ApiObject, nowMs)
    expect([null, 'soon', 5].map(of)).toEqual(['<unknown>', '<unknown>', '<unknown>'])
    expect(of('2026-01-01T00:00:00Z')).toBe('90s')
  })
})
