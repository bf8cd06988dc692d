/** What `setpoint dev` calls in the process of the control plane; not for people. */
export const reloading = 'start-reloading'
