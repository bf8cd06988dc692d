import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Vault, VaultEntry } from '../../shared/ports/vault.ts'
import { expectCode } from '../support/expect-code.ts'

export interface VaultFixture {
  readonly vault: Vault
  /** Puts in what nobody of ours has made. */
  put(entry: VaultEntry, text: string): Promise<void>
}

const ours = { uid: 'uid-1', controller: 'shop' }
const another = { uid: 'uid-2', controller: 'shop' }

/** The promises of a vault, for each of the two services. */
export function vaultContract(
  open: () => VaultFixture | Promise<VaultFixture>,
  options: { readonly skip?: boolean; readonly timeout?: number; readonly meta?: object } = {},
): void {
  const entries = {
    'a secret': (): VaultEntry => ({ secretsManager: `shop/default/${randomUUID()}` }),
    'a parameter': (): VaultEntry => ({ parameter: `/shop/default/${randomUUID()}` }),
  }
  describe.each(Object.entries(entries))('%s', options, (_, name) => {
    it('is absent, then written, then as it was written', async () => {
      const { vault } = await open()
      const entry = name()
      expect(await vault.read(entry)).toBeUndefined()
      expect(await vault.write(entry, 'one', ours)).toBe('written')
      expect(await vault.read(entry)).toBe('one')
      expect(await vault.write(entry, 'one', ours)).toBe('unchanged')
      expect(await vault.write(entry, 'two "quoted" ü', ours)).toBe('written')
      expect(await vault.read(entry)).toBe('two "quoted" ü')
    })

    it('goes back to an earlier text', async () => {
      const { vault } = await open()
      const entry = name()
      for (const text of ['one', 'two', 'one']) expect(await vault.write(entry, text, ours)).toBe('written')
      expect(await vault.read(entry)).toBe('one')
    })

    it.each([
      ['of another object', another],
      ['of another controller', { ...ours, controller: 'other' }],
    ])('is neither written nor removed as one %s', async (__, owner) => {
      const { vault } = await open()
      const entry = name()
      await vault.write(entry, 'theirs', owner)
      expect(await vault.write(entry, 'ours', ours)).toBe('foreign')
      expect(await vault.remove(entry, ours)).toBe('foreign')
      expect(await vault.read(entry)).toBe('theirs')
    })

    it('is neither written nor removed without our tags', async () => {
      const { vault, put } = await open()
      const entry = name()
      await put(entry, 'by hand')
      expect(await vault.read(entry)).toBe('by hand')
      expect(await vault.write(entry, 'by hand', ours)).toBe('foreign')
      expect(await vault.remove(entry, ours)).toBe('foreign')
      expect(await vault.read(entry)).toBe('by hand')
    })

    it('is removed once, and can be made again at once', async () => {
      const { vault } = await open()
      const entry = name()
      await vault.write(entry, 'one', ours)
      expect(await vault.remove(entry, ours)).toBe('removed')
      expect(await vault.remove(entry, ours)).toBe('absent')
      expect(await vault.read(entry)).toBeUndefined()
      expect(await vault.write(entry, 'two', another)).toBe('written')
    })

    it('refuses a text that is too long, and says nothing of it', async () => {
      const { vault } = await open()
      const text = 'secretive'.repeat(8_000)
      const { message } = await expectCode(vault.write(name(), text, ours), 'INVALID')
      expect(message).toMatch(/would hold 72000 bytes, and can hold (4096|65536)/)
      expect(message).not.toContain('secretive')
    })

    it('refuses an empty text, which neither service keeps', async () => {
      const { vault } = await open()
      const entry = name()
      const { message } = await expectCode(vault.write(entry, '', ours), 'INVALID')
      expect(message).toContain('would be empty')
      expect(await vault.read(entry)).toBeUndefined()
    })
  })

  it('has another secret where a name begins with a slash, and the same parameter', options, async () => {
    const { vault } = await open()
    const name = `shop/default/${randomUUID()}`
    await vault.write({ secretsManager: name }, 'one', ours)
    await vault.write({ parameter: name }, 'two', ours)
    expect(await vault.read({ secretsManager: `/${name}` })).toBeUndefined()
    expect(await vault.read({ parameter: `/${name}` })).toBe('two')
  })
}
