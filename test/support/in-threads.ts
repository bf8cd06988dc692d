/**
 * How vitest runs tests that share nothing outside their files: Node loads the files, as it does where they are
 * shipped, and once for all tests of a thread. vitest's own loader, and new threads, take more processor time.
 */
export const inThreads = {
  experimental: { viteModuleRunner: false, nodeLoader: false },
  pool: 'threads',
  isolate: false,
} as const
