#include "server_http.h"

#include "server_site.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>

#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <stdexcept>

namespace talus {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using asio::ip::tcp;
using beast::error_code;

constexpr std::size_t kMaxPages = 64;                     // WebSockets at once
constexpr std::size_t kMaxConnections = 512;              // sockets at once
constexpr std::size_t kMaxQueued = std::size_t(8) << 20;  // bytes that wait for a slow page
constexpr std::size_t kMaxSwallowed = std::size_t(256)
                                      << 20;  // of one message that is too long, before we hang up
constexpr auto kHttpTimeout = std::chrono::seconds(30);
constexpr auto kIdleTimeout = std::chrono::seconds(40);  // a page answers pings at half of it
constexpr int kMaxFaults = 200;                          // refused messages, then the connection ends

double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class PageSession;

struct Hub {
    Simulation* simulation = nullptr;
    std::map<ClientId, std::weak_ptr<PageSession>> pages;
    ClientId next_id = 1;
    std::size_t connections = 0;
    HttpSettings settings;
    bool loopback = true;
    std::uint16_t port = 0;
};

/// One page on its WebSocket.
class PageSession : public std::enable_shared_from_this<PageSession> {
 public:
    PageSession(beast::tcp_stream&& stream, Hub& hub)
        : ws_(std::move(stream)), hub_(hub), id_(hub.next_id++) {}
    ~PageSession() {
        hub_.pages.erase(id_);
        hub_.connections--;
        if (opened_) spdlog::info("client {}: gone", id_);
    }

    void start(http::request<http::empty_body> request) {
        beast::get_lowest_layer(ws_).expires_never();
        websocket::stream_base::timeout timeout{std::chrono::seconds(10), kIdleTimeout, true};
        ws_.set_option(timeout);
        ws_.binary(true);
        ws_.read_message_max(kMaxSwallowed);
        request_ = std::move(request);
        ws_.async_accept(request_, [self = shared_from_this()](error_code error) {
            if (error) return;
            self->opened_ = true;
            spdlog::info("client {}: here", self->id_);
            self->hub_.pages[self->id_] = self;
            self->hub_.simulation->join(self->id_);
            self->read();
        });
    }

    void push(SharedBytes message, bool full) {
        if (full) {
            // Everything anew: what waits is out of date. What is on its way stays.
            while (queue_.size() > (writing_ ? 1u : 0u)) drop_last();
            behind_ = false;
        } else if (behind_) {
            return;
        } else if (queued_ + message->size() > kMaxQueued && !queue_.empty()) {
            // Too slow for the stream: it gets the whole world once what is on its way is through.
            while (queue_.size() > (writing_ ? 1u : 0u)) drop_last();
            behind_ = true;
            spdlog::info("client {}: too slow, starts anew", id_);
            if (!writing_) catch_up();
            return;
        }
        enqueue(std::move(message));
    }

    /// Words for this page: they go out whatever state it is in.
    void notice(bool error, const std::string& text) {
        if (queue_.size() > 4096) return;
        enqueue(std::make_shared<const std::vector<std::uint8_t>>(encode_notice(error, text)));
    }
    void push_notice(SharedBytes message) {
        if (queue_.size() <= 4096) enqueue(std::move(message));
    }

    void close(websocket::close_code code) {
        if (closing_ || !opened_) return;
        closing_ = true;
        ws_.async_close(code, [self = shared_from_this()](error_code) {});
    }

 private:
    void enqueue(SharedBytes message) {
        queued_ += message->size();
        queue_.push_back(std::move(message));
        if (!writing_) write();
    }
    void drop_last() {
        queued_ -= queue_.back()->size();
        queue_.pop_back();
    }
    void catch_up() { hub_.simulation->join(id_); }

    void write() {
        if (closing_) return;
        writing_ = true;
        ws_.async_write(asio::buffer(*queue_.front()),
                        [self = shared_from_this()](error_code error, std::size_t) {
                            self->writing_ = false;
                            self->queued_ -= self->queue_.front()->size();
                            self->queue_.pop_front();
                            if (error) return;
                            if (!self->queue_.empty())
                                self->write();
                            else if (self->behind_)
                                self->catch_up();
                        });
    }

    void read() {
        ws_.async_read_some(buffer_, 65536, [self = shared_from_this()](error_code error, std::size_t) {
            if (error) return;
            self->on_bytes();
            if (!self->closing_) self->read();
        });
    }

    void on_bytes() {
        // One that is too long is swallowed, so that the page can be told why.
        if (too_long_ || buffer_.size() > kMaxClientMessage) {
            too_long_ = true;
            swallowed_ += buffer_.size();
            buffer_.clear();
            buffer_.shrink_to_fit();
        }
        if (!ws_.is_message_done()) return;
        if (too_long_) {
            refuse(fmt::format("a message of {} MiB is too long, the limit is {} MiB", swallowed_ >> 20,
                               kMaxUpload >> 20));
        } else {
            const auto data = buffer_.cdata();
            on_message({static_cast<const std::uint8_t*>(data.data()), data.size()});
        }
        buffer_.clear();
        if (swallowed_ || buffer_.capacity() > 65536) buffer_.shrink_to_fit();
        too_long_ = false;
        swallowed_ = 0;
    }

    void on_message(std::span<const std::uint8_t> bytes) {
        const double now = seconds_now();
        if (!requests_.take(now)) return refuse("too many requests");
        auto request = decode_request(bytes);
        if (!request) return refuse(request.error().message);
        const bool heavy = std::holds_alternative<UploadRequest>(*request) ||
                           std::holds_alternative<ResetRequest>(*request) ||
                           std::holds_alternative<SceneRequest>(*request);
        if (heavy && !heavy_requests_.take(now))
            return refuse("wait a moment before the next upload, reset or scene");
        if (!hub_.simulation->post(id_, std::move(*request))) refuse("the server is busy, try again");
    }

    void refuse(const std::string& why) {
        faults_++;
        if (told_.take(seconds_now())) {
            spdlog::warn("client {}: refused: {}", id_, why);
            notice(true, why);
        }
        if (faults_ > kMaxFaults) close(websocket::close_code::policy_error);
    }

    websocket::stream<beast::tcp_stream> ws_;
    Hub& hub_;
    ClientId id_;
    http::request<http::empty_body> request_;
    beast::flat_buffer buffer_;
    std::deque<SharedBytes> queue_;  // the first is on its way while writing_
    std::size_t queued_ = 0;
    bool opened_ = false, writing_ = false, closing_ = false;
    bool behind_ = true;  // waits for the whole world: frames pass by
    bool too_long_ = false;
    std::size_t swallowed_ = 0;
    int faults_ = 0;
    RateLimit requests_{60, 30}, heavy_requests_{4, 0.5}, told_{5, 0.5};
};

/// One connection until it is closed or becomes a WebSocket.
class HttpSession : public std::enable_shared_from_this<HttpSession> {
 public:
    HttpSession(tcp::socket&& socket, Hub& hub) : stream_(std::move(socket)), hub_(hub) {
        hub_.connections++;
    }
    ~HttpSession() {
        if (!upgraded_) hub_.connections--;
    }

    void read() {
        parser_.emplace();
        parser_->header_limit(8192);
        parser_->body_limit(1024);
        stream_.expires_after(kHttpTimeout);
        http::async_read(stream_, buffer_, *parser_,
                         [self = shared_from_this()](error_code error, std::size_t) {
                             if (error == http::error::end_of_stream) return self->end();
                             if (error) return;
                             self->respond();
                         });
    }

 private:
    static std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

    void end() {
        error_code ignored;
        stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    }

    void respond() {
        const auto& request = parser_->get();
        const std::string_view target = view(request.target());
        if (websocket::is_upgrade(request)) {
            const std::string_view host = view(request[http::field::host]),
                                   origin = view(request[http::field::origin]);
            if (target.substr(0, target.find('?')) != "/ws")
                return fail(http::status::not_found, "no such WebSocket");
            if (!origin_allowed(host, origin, hub_.loopback, hub_.port)) {
                spdlog::warn("a WebSocket from origin \"{}\" is refused", printable(origin));
                return fail(http::status::forbidden, "this WebSocket is for this server's own page");
            }
            if (hub_.pages.size() >= kMaxPages)
                return fail(http::status::service_unavailable, "too many pages are open");
            http::request<http::empty_body> upgrade;
            upgrade.base() = request.base();
            upgraded_ = true;  // the page session counts on
            std::make_shared<PageSession>(std::move(stream_), hub_)->start(std::move(upgrade));
            return;
        }
        if (request.method() != http::verb::get && request.method() != http::verb::head)
            return fail(http::status::method_not_allowed, "only GET and HEAD");
        const auto found = find_site_file(hub_.settings.page, target);
        if (!found) return fail(http::status::not_found, "there is no such page");
        send_file(*found);
    }

    static std::string printable(std::string_view text) {
        std::string out(text.substr(0, 200));
        for (char& c : out)
            if (static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126) c = '?';
        return out;
    }

    template <class Body>
    void describe(http::response<Body>& response) {
        const auto& request = parser_->get();
        response.version(request.version());
        response.keep_alive(request.keep_alive());
        response.set(http::field::server, "talus");
        response.set("X-Content-Type-Options", "nosniff");
    }

    void fail(http::status status, const char* words) {
        auto response = std::make_shared<http::response<http::string_body>>();
        response->result(status);
        describe(*response);
        response->set(http::field::content_type, "text/plain; charset=utf-8");
        if (status == http::status::method_not_allowed) response->set(http::field::allow, "GET, HEAD");
        response->body() = std::string(words) + "\n";
        response->prepare_payload();
        if (parser_->get().method() == http::verb::head) response->body().clear();
        send(std::move(response));
    }

    void send_file(const SiteFile& file) {
        error_code error;
        http::file_body::value_type body;
        body.open(file.path.c_str(), beast::file_mode::scan, error);
        if (error) return fail(http::status::not_found, "there is no such page");
        const std::uint64_t size = body.size();
        std::error_code unread;
        const auto changed = std::filesystem::last_write_time(file.path, unread).time_since_epoch().count();
        const std::string tag = fmt::format("\"{}-{}\"", size, changed);
        const auto& request = parser_->get();
        auto set = [&](auto& response) {
            describe(response);
            response.set(http::field::etag, tag);
            response.set(http::field::cache_control,
                         file.immutable ? "public, max-age=31536000, immutable" : "no-cache");
            response.set(http::field::content_type, file.content_type);
        };
        if (view(request[http::field::if_none_match]) == tag) {
            auto response = std::make_shared<http::response<http::empty_body>>();
            response->result(http::status::not_modified);
            set(*response);
            return send(std::move(response));
        }
        if (request.method() == http::verb::head) {
            auto response = std::make_shared<http::response<http::empty_body>>();
            set(*response);
            response->content_length(size);
            return send(std::move(response));
        }
        auto response = std::make_shared<http::response<http::file_body>>();
        response->body() = std::move(body);
        set(*response);
        response->content_length(size);
        send(std::move(response));
    }

    template <class Body>
    void send(std::shared_ptr<http::response<Body>> response) {
        stream_.expires_after(kHttpTimeout);
        // The answer to HEAD has the length of a body that does not come.
        const bool head_only = parser_->get().method() == http::verb::head;
        auto serializer = std::make_shared<http::response_serializer<Body>>(*response);
        auto done = [self = shared_from_this(), response, serializer](error_code error, std::size_t) {
            if (error) return;
            if (!response->keep_alive()) return self->end();
            self->read();
        };
        if (head_only)
            http::async_write_header(stream_, *serializer, std::move(done));
        else
            http::async_write(stream_, *serializer, std::move(done));
    }

    beast::tcp_stream stream_;
    Hub& hub_;
    beast::flat_buffer buffer_;
    std::optional<http::request_parser<http::string_body>> parser_;
    bool upgraded_ = false;
};

}  // namespace

struct HttpServer::State {
    Hub hub;  // before io: sessions that end with io still count themselves out
    asio::io_context io{1};
    tcp::acceptor acceptor{io};
    asio::signal_set signals{io};

    void accept() {
        acceptor.async_accept([this](error_code error, tcp::socket socket) {
            if (error == asio::error::operation_aborted) return;
            if (!error && hub.connections < kMaxConnections) {
                error_code ignored;
                socket.set_option(tcp::no_delay(true), ignored);
                std::make_shared<HttpSession>(std::move(socket), hub)->read();
            }
            accept();
        });
    }
};

HttpServer::HttpServer(HttpSettings settings) : state_(std::make_unique<State>()) {
    State& s = *state_;
    s.hub.settings = std::move(settings);
    const std::string where = fmt::format("{}:{}", s.hub.settings.host, s.hub.settings.port);
    auto check = [&](const error_code& error) {
        if (error) throw std::runtime_error("cannot listen on " + where + ": " + error.message());
    };
    error_code error;
    const std::string host = s.hub.settings.host == "localhost" ? "127.0.0.1" : s.hub.settings.host;
    const asio::ip::address address = asio::ip::make_address(host, error);
    check(error);
    const tcp::endpoint endpoint(address, s.hub.settings.port);
    s.acceptor.open(endpoint.protocol(), error);
    check(error);
    s.acceptor.set_option(asio::socket_base::reuse_address(true), error);
    check(error);
    s.acceptor.bind(endpoint, error);
    check(error);
    s.acceptor.listen(asio::socket_base::max_listen_connections, error);
    check(error);
    s.hub.port = s.acceptor.local_endpoint().port();
    s.hub.loopback = address.is_loopback();
}

HttpServer::~HttpServer() = default;

std::string HttpServer::address() const {
    const std::string& host = state_->hub.settings.host;
    const bool v6 = host.find(':') != std::string::npos;
    return fmt::format("http://{}{}{}:{}/", v6 ? "[" : "", host, v6 ? "]" : "", state_->hub.port);
}

void HttpServer::run(Simulation& simulation) {
    State& s = *state_;
    s.hub.simulation = &simulation;
    s.signals.add(SIGINT);
    s.signals.add(SIGTERM);
    s.signals.async_wait([&](error_code, int) {
        spdlog::info("stopping");
        s.acceptor.close();
        for (const auto& [id, weak] : s.hub.pages)
            if (const auto page = weak.lock()) page->close(websocket::close_code::going_away);
        // Pages that do not answer are not waited for.
        auto timer = std::make_shared<asio::steady_timer>(s.io, std::chrono::milliseconds(300));
        timer->async_wait([&s, timer](error_code) { s.io.stop(); });
    });
    simulation.start();
    s.accept();
    s.io.run();
    simulation.stop();
}

void HttpServer::broadcast(SharedBytes message, bool full) {
    asio::post(state_->io, [this, message = std::move(message), full] {
        for (const auto& [id, weak] : state_->hub.pages)
            if (const auto page = weak.lock()) page->push(message, full);
    });
}

void HttpServer::send(ClientId client, SharedBytes message, bool full) {
    asio::post(state_->io, [this, client, message = std::move(message), full] {
        const auto it = state_->hub.pages.find(client);
        const auto page = it == state_->hub.pages.end() ? nullptr : it->second.lock();
        if (!page) return;
        if (full)
            page->push(message, true);
        else
            page->push_notice(message);
    });
}

}  // namespace talus
