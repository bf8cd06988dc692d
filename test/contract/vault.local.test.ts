import { describe } from 'vitest'
import { createTestVault } from '../../shared/testing/test-vault.ts'
import { vaultContract } from './vault.contract.ts'

describe('the vault of tests', () => {
  vaultContract(() => {
    const vault = createTestVault()
    return { vault, put: async (entry, text) => vault.put(entry, text) }
  })
})
