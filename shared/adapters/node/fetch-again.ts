import type { KeyFetch } from './oidc-verifier.ts'

/**
 * Asks once more where the network fails: a connection that was kept may have ended while the function stood still.
 * What is asked twice does no harm.
 */
export function fetchAgain(fetch: KeyFetch): KeyFetch {
  return async (url, init) => {
    try {
      return await fetch(url, init)
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      return fetch(url, init)
    }
  }
}
