/**
 * npm that is killed tells nobody. It runs us in the place of its shell (`exec` in package.json), so that our parent is
 * npm itself. Nobody who stopped `npm start` wants us to live on.
 */
export function awaitNpmExit(): Promise<void> {
  const parent = process.ppid
  return new Promise((resolve) => {
    if (process.env['npm_lifecycle_event'] === undefined) return
    const look = setInterval(() => {
      if (process.ppid === parent) return
      clearInterval(look)
      resolve()
    }, 500)
  })
}
