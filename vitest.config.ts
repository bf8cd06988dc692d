import { defineConfig } from 'vitest/config'

/** Benches, chaos and the long form of the simulator are programs of their own: none of them is part of `npm test`. */
export default defineConfig({
  test: {
    include: ['{test,examples}/**/*.test.ts'],
    // `it.only` left in a file would silence all others.
    allowOnly: false,
    // A hung test fails; one that is slow on two shared cores does not.
    testTimeout: 30_000,
    expect: { poll: { timeout: 10_000 } },
    restoreMocks: true,
    unstubGlobals: true,
  },
})
