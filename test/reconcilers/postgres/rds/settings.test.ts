import { describe, expect, it } from 'vitest'
import { identifierOf, ownerTagOf } from '../../../../functions/reconcilers/postgres/rds/ownership.ts'
import { rdsSettingsFrom } from '../../../../functions/reconcilers/postgres/rds/settings.ts'

describe('where servers of RDS are', () => {
  it('is said by the environment', () => {
    expect(
      rdsSettingsFrom({ SETPOINT_TABLE: 'objects', RDS_SUBNET_GROUP: 'db', RDS_SECURITY_GROUPS: 'sg-1,sg-2' }),
    ).toEqual({ controlPlane: 'objects', subnetGroup: 'db', securityGroups: ['sg-1', 'sg-2'] })
  })

  it('is the default of the account if it says nothing', () => {
    expect(rdsSettingsFrom({ SETPOINT_TABLE: 'objects', RDS_SUBNET_GROUP: '' })).toEqual({ controlPlane: 'objects' })
  })

  it('are those of one control plane, whatever table it uses: a restored one takes no servers away from it', () => {
    const told = (table: string) => rdsSettingsFrom({ SETPOINT_TABLE: table, SETPOINT_PLANE: 'objects' })
    expect(told('objects-20261123T040000Z')).toEqual(told('objects'))
    expect(told('objects')).toEqual({ controlPlane: 'objects' })
  })

  it('is not known without the control plane', () => {
    expect(() => rdsSettingsFrom({})).toThrow('SETPOINT_TABLE')
  })
})

describe('the name of an instance', () => {
  const of = (namespace: string, name: string, controlPlane = 'objects') =>
    identifierOf({ namespace, name, uid: 'u' }, { controlPlane })

  it('is one that RDS takes, and its tag too, whatever the object is called', () => {
    for (const [namespace, name] of [
      ['default', 'main'],
      ['n'.repeat(63), 'x'.repeat(253)],
      ['a', '1.2-3'],
      ['a-', '--b'],
      ['default', 'x'.repeat(31)],
    ] as const) {
      expect(of(namespace, name)).toMatch(/^[a-z](?:-?[a-z0-9]){0,62}$/)
      expect(ownerTagOf({ namespace, name, uid: 'u' }, { controlPlane: 't'.repeat(255) }).length).toBeLessThanOrEqual(
        256,
      )
    }
  })

  it('is that of one object of one control plane', () => {
    const names = [of('a', 'b'), of('a', 'b', 'other'), of('a-b', ''), of('', 'a-b'), of('a', 'b.c'), of('a', 'b-c')]
    expect(new Set(names).size).toBe(names.length)
    expect(of('a', 'b')).toBe(of('a', 'b'))
  })
})
