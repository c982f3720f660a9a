// Whole programs: who owns which memory, which call has failed, and the account that the child writes for `course cuda`.
#include "program.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "address_map.h"
#include "clocks.h"
#include "hooks.h"
#include "in_flight.h"
#include "memory.h"
#include "program_codes.h"
#include "residents.h"

extern "C" {
void* sim_alloc(size_t bytes, int kind);
void sim_free(void*);
void sim_start(const sim::Launch*, sim::Run, unsigned workers);
int sim_wait(int milliseconds);
void sim_cancel();
const char* sim_printed(size_t* bytes, size_t* lost);
int sim_has_report();
int sim_fault_count();
const sim::Fault* sim_fault(int);
}

namespace sim {

struct Allocation {
    size_t bytes;
    SimMemory memory;
    SimSite site;
};

static std::recursive_mutex& lock = *new std::recursive_mutex;  // never destroyed: destructors of the program come later
static std::map<const char*, Allocation>& allocations = *new std::map<const char*, Allocation>;
static std::map<const char*, size_t>& variables = *new std::map<const char*, size_t>;  // of the device, with their bytes
static std::map<const void*, SimKnown>& known = *new std::map<const void*, SimKnown>;
static std::set<const void*>& reported = *new std::set<const void*>;  // program counters of the host
static int account = -1, last_error, sticky_error, shared_allowed = 48 << 10;
static double seconds = 60;
using Hook = void (*)(const char* kernel, const char* names, Launch*, Run, const char* file, int line);
static Hook hook;
using Hold = std::lock_guard<std::recursive_mutex>;

static void write_line(const char* kind, SimSite site, const char* format, va_list arguments) {
    if (account < 0) return;
    char text[1024], line[1400];
    vsnprintf(text, sizeof text, format, arguments);
    for (char* at = text; *at; at++)
        if (*at == '\n') *at = ' ';
    int length = snprintf(line, sizeof line, "%s\t%s\t%d\t%s\n", kind, site.file ? site.file : "", site.line, text);
    for (int done = 0; done < length;) {
        ssize_t now = write(account, line + done, length - done);
        if (now < 0 && errno != EINTR) return;
        if (now > 0) done += now;
    }
}

static std::map<const char*, Allocation>::iterator holding(const void* address) {
    auto at = static_cast<const char*>(address);
    auto after = allocations.upper_bound(at);
    if (after == allocations.begin()) return allocations.end();
    --after;
    return at <= after->first + after->second.bytes ? after : allocations.end();
}

// The host's own code reads or writes an address; the hooks of a checked build call this.
void host_access(const char* address, bool write, void* pc) {
    Slot* slot = slot_of(address);
    if (!slot || !slot->live) return;
    Hold hold(lock);
    auto found = holding(address);
    if (found == allocations.end()) return;
    const char *verb = write ? "writes" : "reads", *work = nullptr;
    if (found->second.memory != SIM_DEVICE && !(work = in_flight(*slot, address, write))) return;
    if (!reported.insert(pc).second) return;
    size_t offset = static_cast<char*>(pc) - library_base;
    if (work) sim_program_report("early", {nullptr, 0}, "%zu\t%s\t%s", offset, verb, work);
    else sim_program_report("host", {nullptr, 0}, "%zu\t%s", offset, verb);
}

// What a GPU would say of a launch of this size; 0: nothing.
static int refusal(const Launch& launch) {
    const Index g = launch.grid, b = launch.block;
    if (!g.x || !g.y || !g.z || !b.x || !b.y || !b.z) return INVALID_CONFIGURATION;
    if (b.x > 1024 || b.y > 1024 || b.z > 64 || uint64_t(b.x) * b.y * b.z > MAX_THREADS) return INVALID_CONFIGURATION;
    if (g.x > 0x7fffffffu || g.y > 65535 || g.z > 65535) return INVALID_CONFIGURATION;
    if (launch.shared_bytes > uint64_t(shared_allowed)) return INVALID_VALUE;
    if (launch.resident && uint64_t(g.x) * g.y * g.z > MOST_RESIDENT) return COOPERATIVE_TOO_LARGE;
    return 0;
}

static void flush_text() {
    size_t bytes, lost;
    const char* text = sim_printed(&bytes, &lost);
    if (bytes) fwrite(text, 1, bytes, stdout);
}

// The fast build: no lines are known.
static int run_fast(const char* kernel, const Launch& launch, Run run, SimSite site) {
    sim_start(&launch, run, unsigned(sysconf(_SC_NPROCESSORS_ONLN) > 32 ? 32 : sysconf(_SC_NPROCESSORS_ONLN)));
    double waited = 0;
    bool late = false;
    while (sim_wait(100)) {
        flush_text();
        waited += 0.1;
        if (late || waited < seconds) continue;
        late = true;
        sim_cancel();
    }
    flush_text();
    if (late) {
        sim_program_report("fault", site, "%s was stopped: it was still running after %g s (--timeout)", kernel, seconds);
        return LAUNCH_TIMEOUT;
    }
    if (!sim_fault_count()) return 0;
    const Fault& fault = *sim_fault(0);
    sim_program_report("fault", site, "%s: %s (block %u, %u, %u)", kernel, fault.message, fault.block.x, fault.block.y, fault.block.z);
    return fault.kind == TIMEOUT ? LAUNCH_TIMEOUT : strncmp(fault.message, "assertion", 9) ? ILLEGAL_ADDRESS : ASSERT;
}

}  // namespace sim

using namespace sim;

extern "C" {

SimCard sim_card;
int sim_program_checked;

void sim_program_report(const char* kind, SimSite site, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    write_line(kind, site, format, arguments);
    va_end(arguments);
}

int sim_program_error(int code, const char* function, SimSite site, const char* format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    Hold hold(lock);
    last_error = code;
    sim_program_report("api", site, "%d\t%s\t%s", code, function, text);
    return code;
}

int sim_program_last_error(int forget) {
    Hold hold(lock);
    int code = last_error ? last_error : sticky_error;
    if (forget) last_error = 0;
    return code;
}

void sim_program_reset_error() { last_error = sticky_error = 0; }

void* sim_program_allocate(size_t bytes, SimMemory memory, SimSite site) {
    Hold hold(lock);
    void* data = sim_alloc(bytes, memory == SIM_PINNED ? 1 : 0);
    if (data) allocations[static_cast<char*>(data)] = {bytes, memory, site};
    return data;
}

bool sim_program_free(void* data, bool of_host) {
    Hold hold(lock);
    auto found = allocations.find(static_cast<char*>(data));
    if (found == allocations.end()) return false;
    if ((found->second.memory == SIM_PINNED) != of_host || found->second.memory == SIM_REGISTERED) return false;
    allocations.erase(found);
    sim_free(data);
    return true;
}

bool sim_program_register(void* data, size_t bytes, SimSite site) {
    Hold hold(lock);
    auto [at, fresh] = allocations.insert({static_cast<char*>(data), {bytes, SIM_REGISTERED, site}});
    if (!fresh && bytes == 0 && at->second.memory == SIM_REGISTERED) return allocations.erase(at), true;
    return fresh && bytes;
}

void sim_program_variable(const void* data, size_t bytes) {
    Hold hold(lock);
    variables[static_cast<const char*>(data)] = bytes;
}

int sim_program_memory(const void* address, size_t* room) {
    Hold hold(lock);
    auto found = holding(address);
    if (found == allocations.end()) {
        auto at = static_cast<const char*>(address);
        auto after = variables.upper_bound(at);
        if (after == variables.begin() || at > (--after)->first + after->second) return -1;
        if (room) *room = after->first + after->second - at;
        return SIM_DEVICE;
    }
    if (room) *room = found->first + found->second.bytes - static_cast<const char*>(address);
    return found->second.memory;
}

void sim_program_reset(SimSite) {
    Hold hold(lock);
    for (auto at = allocations.begin(); at != allocations.end();) {
        if (at->second.memory != SIM_REGISTERED) sim_free(const_cast<char*>(at->first));
        at = allocations.erase(at);
    }
    sim_program_wait(nullptr);
    sim_program_reset_error();
}

int64_t sim_program_used() {
    Hold hold(lock);
    int64_t total = 0;
    for (auto& [data, one] : allocations) total += one.memory == SIM_DEVICE || one.memory == SIM_MANAGED ? one.bytes : 0;
    return total;
}

void sim_program_copy(void* to, const void* from, size_t bytes) { memmove(to, from, bytes); }
void sim_program_fill(void* to, int value, size_t bytes) { memset(to, value, bytes); }
void sim_program_allow_shared(int bytes) { shared_allowed = bytes > shared_allowed ? bytes : shared_allowed; }
void sim_program_know(const void* address, SimKnown kernel) { known[address] = kernel; }
const SimKnown* sim_program_known(const void* address) {
    auto found = known.find(address);
    return found == known.end() ? nullptr : &found->second;
}

int sim_program_launch(const char* kernel, const char* names, Launch* launch, Run run, SimSite site, const void* stream) {
    if (sim_block) {
        sim_stop(sim_block->current, "dynamic parallelism, a kernel that launches a kernel, is not simulated", site.file, site.line);
    }
    Hold hold(lock);
    if (sticky_error) return sticky_error;
    if (int code = refusal(*launch)) {
        const Index g = launch->grid, b = launch->block;
        return sim_program_error(code, kernel, site, "grid %u x %u x %u, block %u x %u x %u, %llu bytes of dynamic shared memory: %s",
                                 g.x, g.y, g.z, b.x, b.y, b.z, (unsigned long long)launch->shared_bytes,
                                 code == COOPERATIVE_TOO_LARGE
                                     ? "at most 1024 blocks of a cooperative launch are simulated; --gpu orin has fewer multiprocessors"
                                 : code == INVALID_VALUE
                                     ? "more than 48 KB need cudaFuncSetAttribute(kernel, "
                                       "cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)"
                                     : "a grid has 1 to 2147483647 x 65535 x 65535 blocks, a block 1 to 1024 threads");
    }
    std::string copy = names;  // one C string per pointer
    const char* pointers[128] = {};
    size_t begin = 0;
    for (unsigned i = 0; i < launch->parameters && i < 128 && begin <= copy.size(); i++) {
        size_t end = copy.find(',', begin);
        if (end == std::string::npos) end = copy.size();
        else copy[end] = 0;
        if (launch->names[i]) pointers[i] = copy.c_str() + begin;
        begin = end + 1;
    }
    launch->names = pointers;
    launch->checked = sim_program_checked;
    const uint32_t first = interval + 1;
    if (hook) hook(kernel, names, launch, run, site.file, site.line), launched(kernel, stream, first, interval);
    else if (int code = run_fast(kernel, *launch, run, site)) last_error = sticky_error = code;
    every_access = true;  // the host's accesses take the slow path, where there is no block
    fflush(stdout);
    return sticky_error;
}

void sim_program_assert(const char* condition, const char* file, int line) {
    if (sim_block) sim_stop(sim_block->current, (std::string("assertion failed: ") + condition).c_str(), file, line);
    fflush(stdout);
    fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, condition);
    abort();
}

// ---- called by the child ----------------------------------------------------------------------------------------------

static void report_leaks() {
    for (auto& [data, one] : allocations)
        if (one.memory != SIM_REGISTERED) sim_program_report("leak", one.site, "%zu", one.bytes);
    sim_program_report("end", {nullptr, 0}, "%s", "");
}

void sim_program_begin(int file, double timeout) {
    account = file;
    seconds = timeout;
    atexit(report_leaks);
}

// From now on launches are of a checked build, and `watch` runs them.
void sim_program_watch(Hook watch) {
    sim_program_checked = 1;
    hook = watch;
}

void sim_program_fail(int code) { last_error = sticky_error = code; }
}
