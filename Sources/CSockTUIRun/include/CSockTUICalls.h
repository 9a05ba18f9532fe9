// The socket calls of a program that is run, as its tracer hands them on: ptrace(2), seccomp(2). No policy.
#pragma once
#include <stdint.h>

enum crun_moment {
  CRUN_BEGUN,
  // The record has all facts of the call, so that one whose beginning was lost is complete.
  CRUN_ENDED,
  // The thread ended in the call, or executed a program.
  CRUN_VANISHED,
};

// A call, at one moment.
struct crun_traced_call {
  uint16_t moment;
  // The place of the call in the table: see `crun_call_name`.
  uint16_t row;
  int process, thread, descriptor;
  // errno, or 0. From 512 on, the kernel's own numbers for a call that a signal interrupted: see errno.h of Linux.
  int error;
  // How many descriptors a call waits for, or -1 if it is none of these, or they are in the kernel.
  int count;
  // The number of the socket's file.
  uint64_t file;
  // Bytes, or -1 where the call names none.
  int64_t asked;
  // Bytes, or what else the call returned.
  int64_t returned;
  // CLOCK_MONOTONIC in nanoseconds.
  int64_t began, ended;
  // The address at which a call of one buffer puts its bytes, or 0.
  uint64_t address;
  // How long a call may wait for descriptors, in nanoseconds, or -1 for forever.
  int64_t timeout;
};

// The name of the call at a place of the table, or NULL after its end. Calls that are followed but not handed on have none
// of their own: "".
const char *crun_call_name(int row);

// A tracer: a child of this process, which ends with the last process that it traces.
struct crun_tracer {
  // 0, or errno of what kept it from tracing.
  int error;
  // 0 if there is none.
  int process;
  // Where the calls are, and what the tracer watches to see whether anybody reads them. -1 for none.
  int memory, watch;
};

// Waits for the tracer of a new process, whose socket `crun_receive_report` reads. Returns false if there is none to come.
int crun_receive_tracer(int socket, struct crun_tracer *out);

// The calls that were handed on and not taken. Returns NULL if there is no memory.
struct crun_calls;
struct crun_calls *crun_map_calls(int memory);
void crun_unmap_calls(struct crun_calls *calls);

// Takes up to `most` records, in their order. Returns how many.
int crun_take_calls(struct crun_calls *calls, struct crun_traced_call *out, int most);

// How many calls ended for which there was no room, and how many programs' calls are not seen: those for another machine,
// such as 32-bit ones, and those that have cleared their dumpable flag, so that their descriptors may not be looked at.
uint64_t crun_lost_calls(const struct crun_calls *calls);
uint64_t crun_strange_programs(const struct crun_calls *calls);
uint64_t crun_hidden_programs(const struct crun_calls *calls);

// Notes that a process is about to get an io_uring, by which its descriptors change unseen. They are read anew for each of
// its calls from then on.
void crun_note_ring(struct crun_calls *calls, int process);
