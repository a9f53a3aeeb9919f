// uvu starts running by itself as soon as it is loaded unless it is told to wait: test/run.ts runs the suites.
Object.assign(globalThis, { UVU_DEFER: 1 });
