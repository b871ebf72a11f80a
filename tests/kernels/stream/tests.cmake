# Some faults in the smallest kernel; the slow test `faults` covers all kernels.
add_test(NAME faults/stream COMMAND tessera_faults $<TARGET_FILE:tessera> ${PROJECT_BINARY_DIR}
  --only stream --count 20)
set_tests_properties(faults/stream PROPERTIES LABELS cli TIMEOUT ${LONGEST_TEST})
