import * as z from 'zod'
import { expect, it } from 'vitest'
import { Disk } from '../../../examples/disk/disk.ts'
import { defineKind } from '../../../shared/index.ts'
import { checkConversions } from '../../../shared/testing/test-env.ts'

const sizes = { v1alpha1: (next: () => number) => ({ size: `${1 + Math.floor(next() * 1_000)}G` }) }

const names = { group: 'test.setpoint.dev', version: 'v2', kind: 'Lamp' } as const

function lamp(upgrade: (watts: number) => number, downgrade: (milliwatts: number) => number) {
  return defineKind({
    ...names,
    spec: z.object({ milliwatts: z.number().int().min(0), name: z.string().optional() }),
    status: z.object({ lit: z.boolean() }),
    olderVersions: (older) => [
      older('v1', {
        spec: z.object({ watts: z.number().int().min(0), name: z.string().optional() }),
        status: z.object({ on: z.boolean() }),
        upgrade: ({ spec: { watts, ...spec }, status }) => ({
          spec: { ...spec, milliwatts: upgrade(watts) },
          status: status?.on === undefined ? {} : { lit: status.on },
        }),
        downgrade: ({ spec: { milliwatts, ...spec }, status }) => ({
          spec: { ...spec, watts: downgrade(milliwatts) },
          status: status?.lit === undefined ? {} : { on: status.lit },
        }),
      }),
    ],
  })
}

it('passes where nothing is lost', () => {
  const same = lamp(
    (watts) => watts,
    (milliwatts) => milliwatts,
  )
  expect(() => checkConversions(same)).not.toThrow()
  expect(() => checkConversions(Disk, { draw: sizes, hidden: ['spec.zones'] })).not.toThrow()
})

it('shows what a way there and back loses', () => {
  const rounding = lamp(
    (watts) => watts * 1_000,
    (milliwatts) => Math.floor(milliwatts / 1_000),
  )
  expect(() => checkConversions(rounding)).toThrow(/^Lamp v2 → v1 → v2 changes spec.milliwatts: \{"spec":/)
  expect(() => checkConversions(Disk, { draw: sizes })).toThrow(/^Disk v1 → v1alpha1 → v1 changes spec.zones: /)
})

it('shows what does not fit the version that it is converted to', () => {
  const negative = lamp(
    (watts) => -1 - watts,
    (milliwatts) => milliwatts,
  )
  expect(() => checkConversions(negative)).toThrow(
    /^Lamp v1 → v2 makes what does not fit v2: spec.milliwatts: Invalid value: of \{"spec":\{"watts":/,
  )
})

it('says where chance makes no object, and what has no versions', () => {
  expect(() => checkConversions(Disk)).toThrow(
    'chance makes no Disk of v1alpha1 that fits (spec.size: Invalid value): give draw: { v1alpha1: (next) => spec }',
  )
  const plain = defineKind({ ...names, spec: z.object({}) })
  expect(() => checkConversions(plain)).toThrow('Lamp has no olderVersions: there is nothing to convert')
})
