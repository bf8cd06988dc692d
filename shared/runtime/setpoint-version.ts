/** As in package.json, which is not in the bundles of functions. */
export const setpointVersion = '0.1.0'
